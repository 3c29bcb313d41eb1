// A tour of the operations: each call with its operands and its result, on the first five nodes of
// a graph.

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "options.hpp"
#include "rig/elementwise.hpp"
#include "rig/graph.hpp"
#include "rig/mxm.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

// The text of a call, and the call.
#define CALL(...) #__VA_ARGS__, [&] { return __VA_ARGS__; }

namespace {

using matrix = rig::matrix<float>;
using vector = rig::vector<float>;
using dense = rig::dense<float>;

/// Entry (i, j) becomes 10 i + j, so each value shows its place.
RIG_OPERATOR(
    own_place, static constexpr float apply(float, rig::index i, rig::index j, float ten) {
      return ten * static_cast<float>(i) + static_cast<float>(j);
    });
RIG_OPERATOR(
    divisible, static constexpr bool apply(float x, rig::index, rig::index, int by) {
      return static_cast<int>(x) % by == 0;
    });

/// A value as rows of cells for people, and as JSON text for programs.
struct picture {
  std::vector<std::vector<std::string>> cells;
  std::string json;
};

picture draw(double x) { return {{{example::brief(x)}}, example::json(x)}; }
picture draw(const std::optional<float>& x) {
  if (!x) return {{{"none"}}, "null"};
  return draw(*x);
}
template <class T>
picture draw(const rig::dense<T>& x) {
  const auto here = x.to(rig::cpu());
  picture out;
  std::vector<std::string> rows;
  for (rig::index i = 0; i < here.rows(); ++i) {
    auto& cells = out.cells.emplace_back();
    std::vector<std::string> row;
    for (const T element : here.row(i)) {
      cells.push_back(example::brief(element));
      row.push_back(example::json(element));
    }
    rows.push_back(example::json_list(row));
  }
  out.json = example::json_list(rows);
  return out;
}
picture draw(const matrix& a) {
  const auto t = rig::to_tuples(a.to(rig::cpu()));
  const auto at = [](rig::index i) { return static_cast<std::size_t>(i); };
  picture out;
  out.cells.assign(at(a.rows()), std::vector<std::string>(at(a.columns()), "."));
  std::vector<std::string> entries;
  for (rig::index p = 0; p < t.rows.rows(); ++p) {
    const rig::index i = t.rows(p, 0), j = t.columns(p, 0);
    const double value = t.values(p, 0);
    out.cells[at(i)][at(j)] = example::brief(value);
    entries.push_back(
        example::json_list({example::json(i), example::json(j), example::json(value)}));
  }
  out.json = example::json_list(entries);
  return out;
}
/// A vector is a matrix of one row.
picture draw(const vector& v) { return draw(v.as_row()); }

/// An operand or a result with its name.
struct shown {
  template <class X>
  shown(std::string name, const X& x) : name(std::move(name)), drawn(draw(x)) {}

  /// Lines of equal length: the name, then the rows.
  std::vector<std::string> lines() const {
    std::size_t width = 0;
    for (const auto& row : drawn.cells)
      for (const auto& cell : row) width = std::max(width, cell.size());
    std::vector<std::string> out{name};
    std::size_t longest = name.size();
    for (const auto& row : drawn.cells) {
      std::string line;
      for (const auto& cell : row)
        line += std::string((line.empty() ? 0 : 1) + width - cell.size(), ' ') + cell;
      longest = std::max(longest, line.size());
      out.push_back(line);
    }
    for (std::string& line : out) line.resize(longest, ' ');
    return out;
  }

  std::string name;
  picture drawn;
};

/// Runs calls, and shows each with its operands and its result.
class tour {
 public:
  template <class Work>
  auto show(const std::string& name, const std::string& meaning, const char* text, Work call,
            std::vector<shown> operands) {
    const auto result = call();
    operands.emplace_back("result", result);
    add(name, meaning, text, operands);
    return result;
  }
  /// A call that writes into C.
  template <class C, class Work>
  void into(C& c, const std::string& name, const std::string& meaning, const char* text, Work call,
            std::vector<shown> operands) {
    operands.insert(operands.begin(), shown("C before", c));
    call();
    operands.emplace_back("C after", c);
    add(name, meaning, text, operands);
  }

  void print(const example::options& given) const {
    const rig::place where = given.where();
    const std::string device = where == rig::cpu() ? "cpu" : "cuda";
    const std::string all = example::json_object(
        {{"device", example::json(device)}, {"results", example::json_object(results_)}});
    std::cout << (given.json ? all + "\n"
                             : given.source() + " on " + rig::to_string(where) + "\n" + text_);
  }

 private:
  void add(const std::string& name, const std::string& meaning, const char* call,
           const std::vector<shown>& all) {
    results_.emplace_back(name, all.back().drawn.json);
    text_ += "\n" + name + ": " + meaning + "\n  " + call + "\n";
    std::vector<std::vector<std::string>> columns;
    std::size_t height = 0;
    for (const shown& one : all) {
      columns.push_back(one.lines());
      height = std::max(height, columns.back().size());
    }
    for (std::size_t i = 0; i < height; ++i) {
      std::string line;
      for (const auto& column : columns)
        line += "    " + (i < column.size() ? column[i] : std::string(column[0].size(), ' '));
      text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }

  std::string text_;
  std::vector<std::pair<std::string, std::string>> results_;  ///< JSON text by name
};

void element_by_element(tour& t, const matrix& A, const matrix& L, const matrix& B) {
  t.show("ewise_add", "the union of the patterns; common entries are joined",
         CALL(rig::ewise_add(L, B, rig::binary::plus)), {{"L", L}, {"B", B}});
  t.show("ewise_mult", "the intersection of the patterns",
         CALL(rig::ewise_mult(L, B, rig::binary::times)), {{"L", L}, {"B", B}});
  t.show("apply", "each entry through a function", CALL(rig::apply(A, rig::unary::negate)),
         {{"A", A}});
  t.show("apply_number", "each entry with a number", CALL(rig::apply(A, rig::binary::times, 0.5f)),
         {{"A", A}});
  t.show("edge_softmax", "the softmax of each row: the weights of attention",
         CALL(rig::edge_softmax(L)), {{"L", L}});
}

void sums(tour& t, const matrix& A, const matrix& L) {
  t.show("reduce_rows", "the sum of each row; a row without entries has none",
         CALL(rig::reduce_rows(L, rig::binary::plus)), {{"L", L}});
  t.show("reduce_columns", "the greatest entry of each column",
         CALL(rig::reduce_columns(L, rig::binary::maximum)), {{"L", L}});
  t.show("reduce", "the sum of all entries", CALL(rig::reduce(A, rig::binary::plus)), {{"A", A}});
}

void parts(tour& t, const matrix& A, const matrix& L) {
  t.show("transpose", "rows become columns", CALL(rig::transpose(L)), {{"L", L}});
  t.show("extract_rows", "some rows, in an order of yours",
         CALL(rig::extract(A, std::vector{4, 0}, rig::all)), {{"A", A}});
  t.show("extract_row", "a row as a sparse vector", CALL(rig::extract_row(A, 1)), {{"A", A}});
  auto C = L;
  t.into(C, "assign", "a number at each place of a block",
         CALL(rig::assign(C, rig::none, 7, rig::range{0, 2}, rig::range{3, 5})), {});
  t.show("at", "one element, if it is an entry", CALL(rig::at(A, 3, 2)), {{"A", A}});

  const auto small = rig::extract(A, rig::range{0, 2}, rig::range{0, 2});
  const auto row = rig::extract(A, rig::range{0, 1}, rig::range{1, 4});
  t.show("kronecker", "each entry of one matrix times the whole of the other",
         CALL(rig::kronecker(small, row, rig::binary::times)), {{"small", small}, {"row", row}});
  const auto v = t.show("diag", "a diagonal as a sparse vector, here the first one below the main",
                        CALL(rig::diag(A, -1)), {{"A", A}});
  t.show("diag_matrix", "a matrix with a vector on its diagonal", CALL(rig::diag(v)), {{"v", v}});
}

void tuples(tour& t, const matrix& L) {
  const std::vector<int> i{2, 0, 2}, j{1, 2, 1};
  const std::vector<float> v{1, 5, 3};
  const auto column = []<class T>(const std::vector<T>& list) {
    return rig::dense<T>::from(static_cast<rig::index>(list.size()), 1, list);
  };
  const rig::place where = L.where();
  t.show("from_tuples", "a matrix from tuples; those of one place are joined",
         CALL(matrix::from_tuples(3, 3, i, j, v, std::plus<>()).to(where)),
         {{"i", column(i)}, {"j", column(j)}, {"v", column(v)}});
  const auto all = rig::to_tuples(L);
  t.show("to_tuples", "the tuples of a matrix: rows i, columns j and values",
         CALL(rig::to_tuples(L).values), {{"L", L}, {"i", all.rows}, {"j", all.columns}});
}

void masks(tour& t, const matrix& A, const matrix& L, const matrix& B) {
  auto C = L;
  t.into(C, "accumulator", "an accumulator joins a result with what C holds",
         CALL(rig::apply(C, rig::accumulator::plus, B, rig::unary::identity)), {{"B", B}});
  C = L;
  t.into(C, "mask", "only places in the mask are written; the others stay",
         CALL(rig::apply(C, rig::none, A, rig::unary::negate, rig::structure(B))),
         {{"A", A}, {"mask B", B}});
  C = L;
  t.into(C, "replace", "with replace, places outside the mask are emptied",
         CALL(rig::apply(C, rig::none, A, rig::unary::negate, rig::complement(rig::structure(B)),
                         {.replace = true})),
         {{"A", A}, {"not in B", B}});
}

void vectors(tour& t, rig::place where) {
  const auto from = [&](const std::vector<int>& places, const std::vector<float>& values) {
    return vector::from_tuples(5, places, values).to(where);
  };
  const auto u = from({0, 3}, {1, 2}), v = from({3, 4}, {10, 20});
  t.show("vector_add", "a sparse vector is a matrix of one row",
         CALL(rig::ewise_add(u, v, rig::binary::plus)), {{"u", u}, {"v", v}});
  t.show("vector_select", "the entries above a number",
         CALL(rig::select(v, rig::selection::greater, 10)), {{"v", v}});
  auto C = u;
  t.into(C, "vector_assign", "a number at the entries of a mask",
         CALL(rig::assign(C, rig::none, 5, rig::all, rig::structure(v))), {{"mask v", v}});
}

void dense_matrices(tour& t, const matrix& A, const example::options& given) {
  const auto ones = dense(5, 2, 1).to(A.where());
  const auto X = t.show("dense_apply", "a dense has an element at every place",
                        CALL(rig::apply(ones, own_place(), 10.0f)), {{"ones", ones}});
  const auto desc = given.describe();
  given.show(rig::explain(A, X, rig::max_second<float>(), desc));
  t.show("mxm", "the product, over any semiring",
         CALL(rig::mxm(A, X, rig::max_second<float>(), desc)), {{"A", A}, {"X", X}});
}

void operations(const example::options& given) {
  const auto loaded = given.load<float>();
  if (std::min(loaded.rows(), loaded.columns()) < 5)
    rig::fail(rig::errc::shape,
              {given.source(), ": the tour is of the first five nodes; this graph is ",
               loaded.rows(), "x", loaded.columns()});
  const auto graph = loaded.to(given.where());
  const rig::range five{0, 5};
  tour t;
  const auto G = t.show("extract", "the first five nodes of the graph",
                        CALL(rig::extract(graph, five, five)), {});
  const auto A = t.show("apply_own", "entries from their places, by an operator of yours",
                        CALL(rig::apply(G, own_place(), 10.0f)), {{"G", G}});
  const auto L = t.show("select", "the entries below the diagonal",
                        CALL(rig::select(A, rig::selection::lower, -1)), {{"A", A}});
  const auto B = t.show("select_own", "the entries for which a predicate of yours is true",
                        CALL(rig::select(A, divisible(), 2)), {{"A", A}});
  element_by_element(t, A, L, B);
  sums(t, A, L);
  parts(t, A, L);
  tuples(t, L);
  masks(t, A, L, B);
  vectors(t, A.where());
  dense_matrices(t, A, given);
  t.print(given);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(count, arguments,
                              {.summary = "A tour of the operations, on the first five nodes of a "
                                          "graph"},
                              {}, operations);
}
