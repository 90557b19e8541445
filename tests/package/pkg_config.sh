# pkg_config.sh PKG_CONFIG COMPILER SOURCE: compiles SOURCE with pkg-config's flags for the tend in ./prefix, and
# runs the compiled program.
set -eu
folder=$(dirname "$(find prefix -name tend.pc)")
flags=$(PKG_CONFIG_PATH=$folder "$1" --cflags --libs tend)
"$2" -std=c++20 "$3" -o pkg_config_program $flags
LD_LIBRARY_PATH=$(dirname "$folder") ./pkg_config_program
