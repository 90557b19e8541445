/// \file
/// Web pages with charts about training runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tend::nn {

/// A line of a chart.
struct Curve {
  std::string name;
  std::vector<double> x, y;  ///< Of the same size. Points that are not finite are left out.
  /// Draws the curve pale, and a second line through the means of neighbouring points. For losses.
  bool is_smoothed = false;
  bool is_marked = false;  ///< Draws a dot at each point.
};

/// Curves that a chart shows together. The reader chooses one of the chart's views.
struct ChartView {
  std::string name;
  std::vector<Curve> curves;
};

/// A chart of curves. The x axis starts at 0.
struct Chart {
  std::vector<ChartView> views;
  std::string choice = {};     ///< The label of the list in which the reader chooses a view.
  bool has_log_scale = false;  ///< Offers a logarithmic scale, for values above 0.
  bool has_bars = false;       ///< Draws a bar for each point instead of lines.
  std::string x_name = "step";
};

/// A list from which the reader chooses: its label and the names in it.
struct Choice {
  std::string label;
  std::vector<std::string> names;
  std::size_t first = 0;  ///< The position of the name that is chosen at first.
};

/// Matrices that are shown as colours, one at a time: the reader chooses the step, layer, head or
/// the like.
struct Maps {
  std::vector<Choice> choices = {};  ///< Empty if there is only one matrix.
  std::vector<std::string> rows;     ///< Labels, from top to bottom.
  std::vector<std::string> columns;  ///< Labels, from left to right.
  /// The elements in row-major order, of the shape (choices..., rows, columns). Elements that are
  /// not finite are left out.
  std::vector<double> values;
  std::string row_name = "row";
  std::string column_name = "column";
};

/// A web page about a run: one HTML document that needs no network.
///
/// It has a light and a dark form, and fits wide screens and phones. Its charts show the values
/// under the pointer, and can be saved as SVG and CSV.
///
///     nn::RunPage page("sort", "Read ten digits, then write them in ascending order.");
///     page.add_figures({{"0.013", "loss on held-out data"}});
///     page.add_chart("Loss", {.views = {{"", {{"training", steps, losses, true}}}}});
///     nn::write_file("report.html", page.html());  // <tend/nn/files/write_file.h>
///
/// The parts of the page have the order in which they are added. Texts may be any bytes, and are
/// escaped. Arguments named html are written to the page as they are.
class RunPage {
 public:
  RunPage(std::string_view title, std::string_view goal);

  void add_text(std::string_view text);
  /// A text that the reader should not miss.
  void add_note(std::string_view text);
  /// Values in large type, each above its meaning.
  void add_figures(const std::vector<std::pair<std::string, std::string>>& values_and_meanings);
  /// Names and values, such as a run's settings.
  void add_list(std::string_view heading,
                const std::vector<std::pair<std::string, std::string>>& names_and_values);
  /// Adds a chart. For long curves with is_smoothed, the page has the means of neighbouring points.
  void add_chart(std::string_view heading, const Chart& chart, std::string_view html_below = "");
  /// Adds maps. All of them have the same scale of colours. One colour is for values from 0 to the
  /// highest value, another one for values from 0 down to the lowest.
  ///
  /// Throws: ShapeError - the number of values is wrong
  void add_maps(std::string_view heading, const Maps& maps, std::string_view html_below = "");
  /// Adds a table.
  ///
  /// Throws: ShapeError - a row has more or fewer cells than the header
  void add_table(std::string_view heading, const std::vector<std::string>& header,
                 const std::vector<std::vector<std::string>>& rows,
                 std::string_view html_below = "");
  void add_section(std::string_view heading, std::string_view html);
  /// Adds a style sheet, for your own sections.
  void add_style(std::string_view css) { style_ += css; }
  /// Adds JavaScript that runs after the page's own script.
  void add_script(std::string_view script) { script_ += script; }

  std::string html() const;

  /// The text, escaped for HTML elements and quoted attributes. Bytes that are not UTF-8 become
  /// U+FFFD.
  static std::string escaped(std::string_view text);
  /// An HTML element with JSON data for scripts. A script reads the data with `dataOf(parent)`,
  /// where `parent` is the element around this element.
  static std::string data(std::string_view json);

 private:
  std::string title_, body_, style_, script_;
};

}  // namespace tend::nn
