/// \file
/// Pages with charts about training runs.
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
  std::vector<double> x, y;  ///< Of one size. A point that is not finite is left out.
  bool is_smoothed = false;  ///< Pale, with a line through the means of neighbours; for losses.
  bool is_marked = false;    ///< With a dot on each point.
};

/// Curves that are shown together. A reader chooses among the views of a chart.
struct ChartView {
  std::string name;
  std::vector<Curve> curves;
};

/// A picture of curves, from x = 0 on.
struct Chart {
  std::vector<ChartView> views;
  std::string choice = {};     ///< What the reader chooses: a label before the views' names.
  bool has_log_scale = false;  ///< Offers a logarithmic scale, for values above 0.
  bool has_bars = false;       ///< A bar for each point in place of lines.
  std::string x_name = "step";
};

/// What a reader chooses among: a label, and the names to choose from.
struct Choice {
  std::string label;
  std::vector<std::string> names;
  std::size_t first = 0;  ///< The one that is shown at first.
};

/// Matrices as colours, of which one is shown: that of the chosen step, layer, head or the like.
struct Maps {
  std::vector<Choice> choices = {};  ///< None: there is one matrix.
  std::vector<std::string> rows;     ///< Labels, from top to bottom.
  std::vector<std::string> columns;  ///< Labels, from left to right.
  /// Row-major, of the shape (choices..., rows, columns). What is not finite is left out.
  std::vector<double> values;
  std::string row_name = "row";
  std::string column_name = "column";
};

/// A page about a run: one HTML document that needs no network, in light and dark, for wide screens
/// and phones. Its charts show the values under the pointer, and can be saved as SVG and CSV.
///
///     nn::RunPage page("sort", "Read ten digits, then write them in ascending order.");
///     page.add_figures({{"0.013", "loss on held-out data"}});
///     page.add_chart("Loss", {.views = {{"", {{"training", steps, losses, true}}}}});
///     nn::write_file("report.html", page.html());
///
/// Parts stand in the order in which they are added. Texts may be any bytes; what is called HTML
/// goes into the page as it is.
class RunPage {
 public:
  RunPage(std::string_view title, std::string_view goal);

  void add_text(std::string_view text);
  /// A text that a reader must not miss.
  void add_note(std::string_view text);
  /// Values in large type, each above its meaning.
  void add_figures(const std::vector<std::pair<std::string, std::string>>& values_and_meanings);
  /// Names and values, such as a run's settings.
  void add_list(std::string_view heading,
                const std::vector<std::pair<std::string, std::string>>& names_and_values);
  /// Of long curves that are smoothed, the page has the means of neighbouring points.
  void add_chart(std::string_view heading, const Chart& chart, std::string_view html_below = "");
  /// ShapeError for another number of values. All maps have one scale of colours: from 0 to the
  /// highest value, and in another colour to the lowest one.
  void add_maps(std::string_view heading, const Maps& maps, std::string_view html_below = "");
  /// ShapeError for a row with more or fewer cells than the header.
  void add_table(std::string_view heading, const std::vector<std::string>& header,
                 const std::vector<std::vector<std::string>>& rows,
                 std::string_view html_below = "");
  void add_section(std::string_view heading, std::string_view html);
  /// A style sheet for your own sections.
  void add_style(std::string_view css) { style_ += css; }
  /// JavaScript that runs at the end, after the page's own.
  void add_script(std::string_view script) { script_ += script; }

  std::string html() const;

  /// The text, safe in HTML's elements and quoted attributes. Bytes that are not UTF-8 become
  /// U+FFFD.
  static std::string escaped(std::string_view text);
  /// A JSON text as an element that scripts read: `dataOf(element around it)`.
  static std::string data(std::string_view json);

 private:
  std::string title_, body_, style_, script_;
};

}  // namespace tend::nn
