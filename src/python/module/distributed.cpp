#include <nanobind/stl/string.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "ranked.hpp"
#include "semirings.hpp"

// Matrices over ranks, whose transport is an object of Python. Collective work runs without the
// interpreter's lock, because ranks may be threads of one interpreter.

namespace rigblas {

#define RIGBLAS_RANKED(name, type) const ranked_pair& ranked_##name##_##type();
#include "ranked.def"
#undef RIGBLAS_RANKED

namespace {

using rig::over_ranks::agree;

rig::errc code_of(const nb::python_error& raised) {
  if (raised.matches(PyExc_TypeError)) return rig::errc::type;
  if (raised.matches(PyExc_MemoryError)) return rig::errc::out_of_memory;
  if (raised.matches(PyExc_OSError)) return rig::errc::io;
  return rig::errc::cannot;
}

/// Runs Python within a collective call: an exception becomes an error of rig, which crosses to the
/// other ranks. What is no Exception, as KeyboardInterrupt, stays itself where a transport raises
/// it; the other ranks then wait until they are interrupted too.
template <class Work>
auto in_python(Work work) {
  const nb::gil_scoped_acquire gil;
  try {
    return work();
  } catch (nb::python_error& raised) {
    if (!raised.matches(PyExc_Exception)) throw;
    auto text = nb::cast<std::string>(nb::str(raised.value()));
    if (text.empty()) text = kind_of(raised.value());
    rig::fail(code_of(raised), {text});
  }
}

/// The object that moves the bytes. The interpreter may end first.
struct transport {
  PyObject* const object;
  explicit transport(nb::handle of) : object(nb::borrow(of).release().ptr()) {}
  transport(const transport&) = delete;
  ~transport() {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire gil;
    Py_DECREF(object);
  }
};
nb::handle object_of(void* state) { return static_cast<transport*>(state)->object; }

constexpr int writable = 0x200;  // PyBUF_WRITE, which the limited interface of 3.10 has no name of

nb::list views_of(std::span<const rig::message> messages) {
  nb::list out;
  for (const rig::message& m : messages) {
    if (m.bytes == 0) continue;
    PyObject* const view = PyMemoryView_FromMemory(static_cast<char*>(m.data),
                                                   static_cast<Py_ssize_t>(m.bytes), writable);
    out.append(nb::make_tuple(m.rank, nb::steal(nb::handle(view))));
  }
  return out;
}

constexpr const char* joinings[] = {"sum", "min", "max"};

constexpr rig::communicator::functions calls = {
    [](void* state, std::span<const rig::message> sends, std::span<const rig::message> receives,
       void*) {
      in_python([&] { object_of(state).attr("exchange")(views_of(sends), views_of(receives)); });
    },
    [](void* state, rig::int64 number, rig::joining how) {
      return in_python([&]() -> rig::int64 {
        const nb::object joined =
            object_of(state).attr("all_reduce")(number, joinings[static_cast<int>(how)]);
        const long long value = PyLong_AsLongLong(joined.ptr());
        if (value == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
        return value;
      });
    },
    [](void* state) { in_python([&] { object_of(state).attr("barrier")(); }); }};

rig::communicator communicator_over(nb::handle of) {
  const int rank = nb::cast<int>(of.attr("rank")), size = nb::cast<int>(of.attr("size"));
  if (size < 1 || rank < 0 || rank >= size)
    rig::fail(rig::errc::range, {"communicator: the transport has rank ", rank, " of ", size,
                                 "; ranks count from 0"});
  return {rank, size, calls, std::make_shared<transport>(of)};
}

/// The values of a matrix over ranks in the type of a semiring, with the transpose that it keeps.
template <class T>
struct converted_part {
  sparse values;
  rig::distributed<rig::matrix<T>> whole;
};

/// A matrix over ranks: its pattern, which keeps the plans, and this rank's values.
struct ranked_matrix {
  rig::distributed<rig::matrix<bool>> pattern;
  sparse local;
  bool is_pattern;  ///< on all ranks
  std::tuple<std::optional<converted_part<bool>>, std::optional<converted_part<rig::int32>>,
             std::optional<converted_part<rig::int64>>, std::optional<converted_part<double>>,
             std::optional<converted_part<float>>>
      converted = {};

  const rig::communicator& ranks() const { return pattern.communicator(); }
  /// Collective.
  template <class T>
  const rig::distributed<rig::matrix<T>>& as(const char* call) {
    auto& kept = std::get<std::optional<converted_part<T>>>(converted);
    agree(ranks(), call, [&] {
      if (kept) return;
      sparse values = rig::converted(local, rig::type_of<T>);
      rig::matrix<T> part = typed<T>(values);
      kept.emplace(converted_part<T>{std::move(values), {pattern, std::move(part)}});
    });
    return kept->whole;
  }
  /// What the choice of a type reads of A: the same on all ranks.
  operand description() const {
    operand out;
    out.what = operand::kind::matrix;
    out.entries.emplace();
    out.entries->stored = local.stored;
    out.entries->is_iso = false;
    if (is_pattern) out.entries = rig::iso_of(local.structure, 1.0f);
    return out;
  }
};

/// The rows of each rank as one list, from the layout that all ranks give, or that none gives.
rig::layout layout_for(const rig::communicator& ranks, const char* call, nb::handle given,
                       rig::int64 rows_here) {
  const bool is_given = !given.is_none();
  rig::over_ranks::require_equal(ranks, call, "whether a layout is given", is_given);
  if (!is_given) return rig::layout::contiguous(ranks, rows_here);
  std::optional<rig::layout> out;
  agree(ranks, call, [&] {
    in_python([&] {
      if (!nb::isinstance<rig::layout>(given))
        rig::fail(rig::errc::type, {call, ": layout is ", kind_of(given),
                                    "; give a rigblas.distributed.Layout, or None"});
      out = nb::cast<const rig::layout&>(given);
    });
  });
  return *std::move(out);
}

/// Collective; without the interpreter's lock.
ranked_matrix over_ranks(const rig::communicator& ranks, sparse local, const rig::layout& rows) {
  const char* const call = "DistributedMatrix";
  std::optional<rig::matrix<bool>> part;
  agree(ranks, call, [&] {
    part.emplace(local.structure, true);
    rig::over_ranks::require_cpu(call, part->where());
  });
  auto pattern = rig::in_name_of(
      call, [&] { return rig::distributed<rig::matrix<bool>>::from_rows(ranks, *part, rows); });
  rig::over_ranks::require_alike(ranks, call, "the type of the values",
                                 static_cast<rig::int64>(local.stored));
  const bool is_pattern = ranks.all_reduce(local.is_pattern(), rig::joining::least) != 0;
  return {std::move(pattern), std::move(local), is_pattern};
}

ranked_matrix from_rows(const rig::communicator& ranks, nb::handle rows, nb::handle layout) {
  const char* const call = "DistributedMatrix";
  sparse local;
  const nb::gil_scoped_release release;
  agree(ranks, call, [&] { in_python([&] { local = read_matrix(rows, call, "rows"); }); });
  return over_ranks(ranks, std::move(local), layout_for(ranks, call, layout, local.rows()));
}

ranked_matrix read_file(const rig::communicator& ranks, const std::string& path, nb::handle dtype,
                        const rig::read_options& options) {
  type of = type::float32;
  const nb::gil_scoped_release release;
  agree(ranks, "read_matrix", [&] { in_python([&] { of = type_from(dtype); }); });
  rig::over_ranks::require_alike(ranks, "read_matrix", "dtype", static_cast<rig::int64>(of));
  return with_algebra(algebra_of(of), [&]<class T>(T) {
    const auto made = rig::read_matrix<T>(ranks, path, options);
    return over_ranks(ranks, erased(made.local()), made.layout());
  });
}

/// This rank's rows as an array, which keeps the result's memory.
nb::object array_of(ranked_rows from, type of, bool is_column = true) {
  nb::capsule owner(new std::shared_ptr<void>(std::move(from.owner)),
                    [](void* kept) noexcept { delete static_cast<std::shared_ptr<void>*>(kept); });
  return numpy_array(from.values, static_cast<std::size_t>(from.rows),
                     static_cast<std::size_t>(from.columns), of, is_column, std::move(owner));
}
template <class T>
nb::object column(rig::distributed<rig::dense<T>> from) {
  return array_of(rows_of(std::move(from)), rig::type_of<T>);
}

/// The keywords of a product, as Python gives them.
struct ranked_options {
  nb::handle fill, dtype, layout;
  bool transpose_a;
  const char *exchange, *kernel;
  rig::int64 threads;
};
#define RIGBLAS_RANKED_PARAMETERS                                                                 \
  const char *exchange, nb::handle layout, nb::handle fill, flag transpose_a, const char *kernel, \
      rig::int64 threads, nb::handle dtype
#define RIGBLAS_RANKED_VALUES \
  ranked_options { fill, dtype, layout, transpose_a, exchange, kernel, threads }
#define RIGBLAS_RANKED_OPTIONS                                                                   \
  nb::arg("exchange"), nb::arg("layout").none(), nb::arg("fill").none(), nb::arg("transpose_a"), \
      nb::arg("kernel"), nb::arg("threads"), nb::arg("dtype").none()

const ranked_pair& ranked_of(const rig::builtin_pair& pair, const char* call) {
  static const ranked_pair* const all[] = {
#define RIGBLAS_RANKED(name, type) &ranked_##name##_##type(),
#include "ranked.def"
#undef RIGBLAS_RANKED
  };
  for (const ranked_pair* const each : all)
    if (each->of == pair.of && std::string_view(each->name) == pair.name) return *each;
  rig::fail(rig::errc::cannot,
            {call, ": ", pair.name, " does not run over ranks; give the name of a semiring"});
}

/// A product on this rank, before it meets the others.
struct ranked_call {
  ranked_matrix& a;
  const char* name;
  std::optional<settings> given = {};
  array x = {};
  std::optional<rig::layout> layout = {};
  ranked_operand operand_of_x = {};
  algebra by = {};
  const ranked_pair* pair = nullptr;

  /// Reads the arguments. Under the interpreter's lock.
  void read(nb::handle object, nb::handle semiring, const ranked_options& from, bool is_row);
  void read_layout(const ranked_options& from);
  /// A number of what all ranks give alike.
  rig::int64 key() const;
  /// Calls work(A in the type of the pair). Collective.
  template <class Work>
  auto with_left(Work work) {
    return with_algebra(pair->of,
                        [&]<class T>(T) { return work(static_cast<const void*>(&a.as<T>(name))); });
  }
};

void ranked_call::read_layout(const ranked_options& from) {
  const bool is_square = a.pattern.rows() == a.pattern.columns();
  if (from.layout.is_none() && !is_square)
    rig::fail(rig::errc::shape, {name, ": A is ", a.pattern.rows(), "x", a.pattern.columns(),
                                 ", so its layout does not say which rank has which rows of X; "
                                 "pass layout="});
  if (!from.layout.is_none() && !nb::isinstance<rig::layout>(from.layout))
    rig::fail(rig::errc::type, {name, ": layout is ", kind_of(from.layout),
                                "; give a rigblas.distributed.Layout, or None"});
  layout = from.layout.is_none() ? a.pattern.layout() : nb::cast<const rig::layout&>(from.layout);
}

void ranked_call::read(nb::handle object, nb::handle semiring, const ranked_options& from,
                       bool is_row) {
  read_layout(from);
  if (is_row && from.transpose_a)
    rig::fail(rig::errc::cannot, {name, ": u is not transposed; leave transpose_a unset"});
  operand right;
  right.full = x = read_array(object, name, is_row ? "u" : "X");
  if (x.full.where != rig::cpu())
    rig::fail(rig::errc::place, {name, ": X is on ", rig::to_string(x.full.where),
                                 ", and products over ranks run on cpu; copy it to the CPU"});
  if ((is_row || std::string_view(name) == "mxv") && x.full.columns != 1)
    rig::fail(rig::errc::shape, {name, ": u is ", x.full.rows, "x", x.full.columns,
                                 "; give one dimension, or one column"});
  options plain;
  plain.fill = from.fill;
  plain.dtype = from.dtype;
  plain.transpose_a = from.transpose_a != is_row;
  plain.kernel = from.kernel;
  plain.threads = from.threads;
  given.emplace(name, plain, right);
  given->desc.exchange = static_cast<rig::exchange>(number_of_name(
      name, "exchange", nb::str(from.exchange), {"automatic", "fetch", "features", "cover"}));
  const operand left = a.description();
  by = algebra_from(is_row ? exchanged(semiring, name) : nb::borrow(semiring), name, &left, &right,
                    given->named);
  pair = &ranked_of(*by.pair, name);
  if (x.full.value_type != pair->of)
    x = read_array(nb::module_::import_("numpy").attr("asarray")(x.owner, dtype_of(pair->of)), name,
                   "X");
  operand_of_x = {x.full.data, x.full.rows, x.full.columns, x.full.stride, &*layout};
}

rig::int64 ranked_call::key() const {
  const type of_result = given->type_or(by.natural);
  const std::string all = std::string(name) + ' ' + pair->name + ' ' + name_of(pair->of) + ' ' +
                          name_of(of_result) + (x.is_column ? " column" : "");
  return static_cast<rig::int64>(std::hash<std::string>()(all) >> 1);
}

/// Reads a call's arguments, and calls work(A in the type of the pair). Collective.
template <class Work>
auto collectively(ranked_call& c, nb::handle x, nb::handle semiring, const ranked_options& from,
                  bool is_row, Work work) {
  const nb::gil_scoped_release release;
  agree(c.a.ranks(), c.name, [&] { in_python([&] { c.read(x, semiring, from, is_row); }); });
  rig::over_ranks::require_alike(c.a.ranks(), c.name, "the call, the semiring or the types",
                                 c.key());
  return c.with_left(work);
}

nb::object multiply(const char* call, ranked_matrix& a, nb::handle x, nb::handle semiring,
                    const ranked_options& from, bool is_row) {
  ranked_call c{a, call};
  ranked_rows made = collectively(c, x, semiring, from, is_row, [&](const void* left) {
    return c.pair->multiply(left, c.operand_of_x, c.given->desc);
  });
  rig::int32* const places = made.indices;
  const ranked_rows indices = {made.owner, places, nullptr, made.rows, made.columns};
  nb::object values = array_of(std::move(made), c.by.pair->product.algebra->result, c.x.is_column);
  const nb::object wanted = dtype_of(c.given->type_or(c.by.natural));
  if (!values.attr("dtype").equal(wanted)) values = values.attr("astype")(wanted);
  if (places == nullptr) return values;
  return nb::make_tuple(values, array_of(indices, type::int32, c.x.is_column));
}

rig::ranks_explanation explain(ranked_matrix& a, nb::handle x, nb::handle semiring,
                               const ranked_options& from) {
  ranked_call c{a, "explain"};
  return collectively(c, x, semiring, from, false, [&](const void* left) {
    return c.pair->explain(left, c.operand_of_x, c.given->desc);
  });
}

/// The rows of all ranks, on each.
nb::object gather(const rig::communicator& ranks, nb::handle rows, nb::handle layout) {
  const char* const call = "gather";
  array x;
  ranked_rows made;
  {
    const nb::gil_scoped_release release;
    agree(ranks, call, [&] {
      in_python([&] { x = read_array(rows, call, "rows"); });
      rig::over_ranks::require_cpu(call, x.full.where, "rows");
    });
    rig::over_ranks::require_alike(ranks, call, "the type of the elements",
                                   2 * static_cast<rig::int64>(x.full.value_type) + x.is_column);
    const rig::layout of_rows = layout_for(ranks, call, layout, x.full.rows);
    made = with_type(x.full.value_type, [&]<class T>(T) {
      const auto part = rig::dense<T>::view(static_cast<const T*>(x.full.data), x.full.rows,
                                            x.full.columns, x.full.stride, x.full.where);
      const auto all = std::make_shared<rig::dense<T>>(rig::in_name_of(call, [&] {
        return rig::distributed<rig::dense<T>>::from_rows(ranks, part, of_rows).gather();
      }));
      return ranked_rows{all, all->data(), nullptr, all->rows(), all->columns()};
    });
  }
  return array_of(std::move(made), x.full.value_type, x.is_column);
}

/// A function of rig that calls the program's, or none.
template <class... Numbers>
std::function<void(Numbers...)> reports_to(nb::handle progress) {
  if (progress.is_none()) return {};
  return [progress](Numbers... numbers) { in_python([&] { progress(numbers...); }); };
}
rig::descriptor with_threads(rig::int64 threads) {
  rig::descriptor desc;
  desc.threads = threads;
  return desc;
}
template <class Work>
auto unlocked(Work work) {
  const nb::gil_scoped_release release;
  return work();
}

nb::object bfs(ranked_matrix& a, rig::int64 source, rig::int64 threads, nb::handle progress) {
  rig::bfs_options options;
  options.progress = reports_to<int, rig::int64>(progress);
  auto found =
      unlocked([&] { return rig::bfs(a.pattern, source, options, with_threads(threads)); });
  return nb::make_tuple(column(std::move(found.levels)), nb::none(), found.reached,
                        found.max_level);
}

nb::object sssp(ranked_matrix& a, rig::int64 source, rig::int64 threads, nb::handle progress) {
  rig::sssp_options options;
  options.progress = reports_to<int, rig::int64>(progress);
  const auto run = [&]<class T>(T) {
    auto found = unlocked(
        [&] { return rig::sssp(a.as<T>("sssp"), source, options, with_threads(threads)); });
    return nb::make_tuple(column(std::move(found.distances)), found.reached, found.steps);
  };
  const type of = algebra_of(a.local.stored);
  return of == type::float32 || of == type::float64 ? run(double()) : run(rig::int64());
}

nb::object components(ranked_matrix& a, flag symmetric, rig::int64 threads, nb::handle progress) {
  rig::components_options options;
  options.symmetric = symmetric;
  options.progress = reports_to<int>(progress);
  auto found = unlocked([&] { return rig::components(a.pattern, options, with_threads(threads)); });
  return nb::make_tuple(column(std::move(found.labels)), found.count);
}

nb::object pagerank(ranked_matrix& a, double damping, double tolerance, rig::int64 most_iterations,
                    nb::handle personalised, rig::int64 threads, nb::handle progress) {
  rig::pagerank_options options;
  options.damping = damping;
  options.tolerance = tolerance;
  options.most_iterations = most_iterations;
  options.progress = reports_to<int, double>(progress);
  array jumps;  // its memory is read until the call ends
  auto found = unlocked([&] {
    agree(a.ranks(), "pagerank", [&] {
      if (personalised.is_none()) return;
      in_python([&] {
        jumps = read_array(nb::module_::import_("numpy").attr("asarray")(personalised, "float64"),
                           "pagerank", "personalised");
      });
      options.personalised =
          rig::dense<double>::view(static_cast<const double*>(jumps.full.data), jumps.full.rows,
                                   jumps.full.columns, jumps.full.stride);
    });
    return rig::pagerank(a.pattern, options, with_threads(threads));
  });
  return nb::make_tuple(column(std::move(found.ranks)), found.iterations, found.change);
}

/// The numbers of a rank's rows.
nb::object rows_of_rank(const rig::layout& of, int rank) {
  if (rank < 0 || rank >= of.ranks())
    rig::fail(rig::errc::range,
              {"rows_of: there is no rank ", rank, "; the layout has ", of.ranks(), " ranks"});
  const nb::object out =
      nb::module_::import_("numpy").attr("empty")(of.rows_of(rank), dtype_of(type::int32));
  auto* const rows = static_cast<rig::int32*>(writable_array(out, "rows_of").full.data);
  for (rig::index k = 0; k < of.rows_of(rank); ++k) rows[k] = of.row_at(rank, k);
  return out;
}

void bind_layout(nb::module_& m) {
  nb::class_<rig::layout>(m, "Layout",
                          "Which rank has which rows. A rank keeps its rows in ascending order.\n\n"
                          "Made by `contiguous`, `by_partition` or `by_entries`; the same on all "
                          "ranks.")
      .def_static(
          "contiguous",
          [](nb::handle rows_of_ranks) {
            return rig::layout::contiguous(
                read_indices(rows_of_ranks, "contiguous", "rows_of_ranks").view());
          },
          nb::arg("rows_of_ranks"), "Rank r has so many rows after those of rank r - 1.")
      .def_static(
          "by_partition",
          [](nb::handle rank_of_row, int ranks) {
            return rig::layout::by_partition(
                read_indices(rank_of_row, "by_partition", "rank_of_row").view(), ranks);
          },
          nb::arg("rank_of_row"), nb::arg("ranks"),
          "Row i is on rank ``rank_of_row[i]``, as METIS and other partitioners write it.")
      .def_static(
          "by_entries",
          [](nb::handle a, int ranks) {
            return rig::layout::by_entries(*read_matrix(a, "by_entries", "A").structure, ranks);
          },
          nb::arg("A"), nb::arg("ranks"), "Each rank has about the same number of entries of A.")
      .def_prop_ro("rows", &rig::layout::rows, "The number of rows of all ranks.")
      .def_prop_ro("ranks", &rig::layout::ranks, "The number of ranks.")
      .def("rows_of", &rows_of_rank, nb::arg("rank"), "The rows of a rank: an array of int32.")
      .def("__eq__",
           [](const rig::layout& x, nb::handle y) {
             return nb::isinstance<rig::layout>(y) && x == nb::cast<const rig::layout&>(y);
           })
      .def("__hash__", [](const rig::layout& x) { return x.hash() >> 1; })
      .def("__repr__", [](const rig::layout& x) {
        return "<rigblas.distributed.Layout of " + std::to_string(x.rows()) + " rows on " +
               std::to_string(x.ranks()) + " ranks>";
      });
}

void bind_communicator(nb::module_& m) {
  nb::class_<rig::communicator>(m, "Communicator",
                                "This process among those that work together.\n\n"
                                "Made by `rigblas.distributed.communicator`. Calls that take one, "
                                "or a matrix over ranks, are collective: all ranks make the same "
                                "calls in the same order.")
      .def(
          "__init__",
          [](rig::communicator* self, nb::handle transport) {
            new (self) rig::communicator(communicator_over(transport));
          },
          nb::arg("transport"))
      .def_prop_ro("rank", &rig::communicator::rank, "The number of this rank, from 0 on.")
      .def_prop_ro("size", &rig::communicator::size, "The number of ranks.")
      .def(
          "all_reduce",
          [](const rig::communicator& ranks, rig::int64 value, nb::handle op) {
            const auto how =
                static_cast<rig::joining>(number_of_name("all_reduce", "op", op, joinings));
            return unlocked([&] { return ranks.all_reduce(value, how); });
          },
          nb::arg("value"), nb::arg("op") = "sum",
          "The \"sum\", \"min\" or \"max\" of the ranks' integers, on all ranks.")
      .def("barrier", &rig::communicator::barrier, nb::call_guard<nb::gil_scoped_release>(),
           "Returns when all ranks have called it.")
      .def("__repr__", [](const rig::communicator& x) {
        return "<rigblas.distributed.Communicator, rank " + std::to_string(x.rank()) + " of " +
               std::to_string(x.size()) + ">";
      });
}

void bind_matrix(nb::module_& m) {
  nb::class_<ranked_matrix>(
      m, "DistributedMatrix",
      "A sparse matrix whose rows are on several ranks.\n\n"
      "Each rank gives its rows, as what `rigblas.matrix` takes; columns have the numbers of the\n"
      "whole matrix. Without a layout the ranks' rows follow each other. Collective.")
      .def(
          "__init__",
          [](ranked_matrix* self, const rig::communicator& ranks, nb::handle rows,
             nb::handle layout) { new (self) ranked_matrix(from_rows(ranks, rows, layout)); },
          nb::arg("communicator"), nb::arg("rows").none(), nb::arg("layout") = nb::none())
      .def_prop_ro(
          "shape",
          [](const ranked_matrix& x) {
            return nb::make_tuple(x.pattern.rows(), x.pattern.columns());
          },
          "Rows and columns of the whole matrix.")
      .def_prop_ro(
          "nnz", [](const ranked_matrix& x) { return x.pattern.nnz(); },
          "Stored entries of all ranks.")
      .def_prop_ro(
          "dtype", [](const ranked_matrix& x) { return dtype_of(x.local.stored); },
          "The type of the values.")
      .def_prop_ro(
          "local", [](const ranked_matrix& x) { return matrix{x.local}; }, "This rank's rows.")
      .def_prop_ro(
          "layout", [](const ranked_matrix& x) { return x.pattern.layout(); },
          "Which rank has which rows.")
      .def_prop_ro(
          "communicator", [](const ranked_matrix& x) { return x.ranks(); }, "The ranks.")
      .def("__repr__", [](const ranked_matrix& x) {
        return "<rigblas.distributed.DistributedMatrix " + std::to_string(x.pattern.rows()) + "x" +
               std::to_string(x.pattern.columns()) + ", " + std::to_string(x.pattern.nnz()) +
               " entries, " + name_of(x.local.stored) + ", rank " +
               std::to_string(x.ranks().rank()) + " of " + std::to_string(x.ranks().size()) + ">";
      });
}

void bind_explanation(nb::module_& m) {
  using why = rig::ranks_explanation;
  nb::class_<why>(m, "RanksExplanation", "What a product over ranks moves, and why.")
      .def_prop_ro(
          "exchange",
          [](const why& x) {
            constexpr const char* names[] = {"automatic", "fetch", "features", "cover"};
            return names[static_cast<int>(x.scheme)];
          },
          "What moves.")
      .def_ro("reason", &why::reason, "The reason of the choice.")
      .def_ro("kernel", &why::kernel, "The kernel of each rank.")
      .def_prop_ro(
          "bytes",
          [](const why& x) {
            nb::list out;
            for (const rig::int64 each : x.bytes) out.append(each);
            return nb::module_::import_("numpy")
                .attr("array")(out, dtype_of(type::int64))
                .attr("reshape")(x.ranks, x.ranks);
          },
          "Bytes that a product moves from each rank, a row, to each rank: int64.")
      .def_ro("bytes_by_fetch", &why::bytes_by_fetch, "Bytes that fetch would move, beside cover.")
      .def_ro("bytes_once", &why::bytes_once, "Bytes that the first product also moves.")
      .def_ro("largest_receiver", &why::largest_receiver, "The rank that receives most.")
      .def_ro("largest_bytes", &why::largest_bytes, "The bytes that it receives.")
      .def_ro("mean_bytes", &why::mean_bytes, "The bytes that a rank receives on average.")
      .def_ro("slices", &why::slices,
              "Slices of X's columns: on devices one travels beside the product of another.")
      .def_ro("interior", &why::interior,
              "The share of the rows of A that need no row of X of another rank.")
      .def_ro(
          "largest_part", &why::largest_part,
          "The largest rank's share of the entries; by features of the columns that it computes.")
      .def("seconds", &why::seconds, nb::arg("one_rank"), nb::arg("bytes_per_second"),
           "Predicts the seconds of a product, from those of one rank and from the bytes that a "
           "rank receives per second. If they are not fewer, do not distribute.")
      .def("__str__", &why::text)
      .def("__repr__", &why::text);
}

}  // namespace

void bind_distributed(nb::module_& m) {
  bind_communicator(m);
  bind_layout(m);
  bind_matrix(m);
  bind_explanation(m);
  m.def(
      "_ranked_mxm",
      [](const char* call, ranked_matrix& a, nb::handle x, nb::handle semiring, flag is_row,
         RIGBLAS_RANKED_PARAMETERS) {
        return multiply(call, a, x, semiring, RIGBLAS_RANKED_VALUES, is_row);
      },
      nb::arg("call"), nb::arg("A"), nb::arg("X").none(), nb::arg("semiring"), nb::arg("is_row"),
      RIGBLAS_RANKED_OPTIONS);
  m.def(
      "_ranked_explain",
      [](ranked_matrix& a, nb::handle x, nb::handle semiring, RIGBLAS_RANKED_PARAMETERS) {
        return explain(a, x, semiring, RIGBLAS_RANKED_VALUES);
      },
      nb::arg("A"), nb::arg("X").none(), nb::arg("semiring"), RIGBLAS_RANKED_OPTIONS);
  m.def("_gather", &gather, nb::arg("communicator"), nb::arg("rows").none(),
        nb::arg("layout").none());
  m.def(
      "_ranked_read",
      [](const rig::communicator& ranks, const std::string& path, nb::handle dtype,
         rig::int64 nodes, const std::string& separator, bool values, bool extra_columns,
         nb::handle duplicates, bool symmetrise) {
        return read_file(ranks, path, dtype,
                         read_options_from("read_matrix", nodes, separator, values, extra_columns,
                                           duplicates, symmetrise));
      },
      nb::arg("communicator"), nb::arg("path"), nb::arg("dtype"), nb::arg("nodes"),
      nb::arg("separator"), nb::arg("values"), nb::arg("extra_columns"),
      nb::arg("duplicates").none(), nb::arg("symmetrise"));
  m.def("_ranked_bfs", &bfs, nb::arg("A"), nb::arg("source"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("_ranked_sssp", &sssp, nb::arg("A"), nb::arg("source"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("_ranked_components", &components, nb::arg("A"), nb::arg("symmetric"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("_ranked_pagerank", &pagerank, nb::arg("A"), nb::arg("damping"), nb::arg("tolerance"),
        nb::arg("most_iterations"), nb::arg("personalised").none(), nb::arg("threads"),
        nb::arg("progress").none());
}

}  // namespace rigblas
