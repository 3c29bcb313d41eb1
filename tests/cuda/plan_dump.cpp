// The kernel and the launch plan at each point of a grid of facts, without a GPU. A change that
// should change no choice leaves every point as it is.
//
//   plan_dump                      compares digests with tests/cuda/plan_dump.digests
//   plan_dump FILE [GRAPH…]        writes each point of these graphs, or of all, as a line of CSV
//   plan_dump --digests            prints the content of tests/cuda/plan_dump.digests
//   plan_dump --unmet              prints the rows of the tuning table that no point meets
//   plan_dump --compile            compiles one kernel of each kind that the points launch
//   plan_dump --statistics GRAPH…  prints lines of plan_facts.hpp for graphs that can be made
//
// Answers assume the memories of an H200. Calls that need a device in between are left out: the
// sums of `maxk_backward` by panels, large scratch, the algorithm of cuSPARSE, and MaxK of B.

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_set>

#include "cuda/runtime/compile.hpp"
#include "cuda/tuning/plan.hpp"
#include "plan_launches.hpp"
#include "rig/generate.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "tuned.hpp"

namespace {

using rig::index;
using rig::int64;
using rig::type;

/// A semiring that differs from one of rig's in its types alone.
rig::semiring_info changed(rig::semiring_info from, const char* name, type t, std::size_t bytes,
                           std::size_t accum_bytes) {
  from.name = name;
  from.left = from.right = from.result = t;
  from.left_bytes = from.right_bytes = from.result_bytes = bytes;
  from.accum_bytes = accum_bytes;
  from.key_hash += accum_bytes;
  from.linear_in_floats = false;
  return from;
}

rig::semiring_info named(rig::semiring_info from, const char* name) {
  from.name = name;
  return from;
}

rig::semiring_info without_text(rig::semiring_info from) {
  from.is_rigs = false;
  return from;
}

const rig::semiring_info sum = rig::info_of<rig::plus_times<float>>,
                         sum64 =
                             named(rig::info_of<rig::plus_times<double>>, "plus_times of double"),
                         max = rig::info_of<rig::max_second<float>>,
                         max64 = changed(max, "max_second of double", type::float64, 8, 8),
                         arg = rig::info_of<rig::arg_max_second<float>>,
                         arg64 = changed(arg, "arg_max_second of double", type::float64, 8, 16),
                         first = rig::info_of<rig::plus_first<float>>,
                         pair = rig::info_of<rig::any_pair<bool>>,
                         mean = rig::info_of<rig::mean_second<float>>,
                         sum_16 = changed(sum, "sums of 16 bytes", type::float32, 4, 16),
                         sum_72 = changed(sum, "sums of 72 bytes", type::float32, 4, 72),
                         triple = changed(sum, "triples", type::other, 12, 12),
                         first_triple = changed(first, "firsts of triples", type::other, 12, 12),
                         unseen = without_text(named(sum, "without text"));

/// A semiring and the storage type of B.
struct operand_case {
  const rig::semiring_info* algebra;
  type b;
};
constexpr operand_case usual[] = {
    {&sum, type::float32},   {&sum, type::half},      {&sum, type::bfloat16},
    {&sum, type::code},      {&sum64, type::float64}, {&max, type::float32},
    {&max, type::half},      {&max, type::bfloat16},  {&max, type::code},
    {&max64, type::float64}, {&arg, type::float32},   {&arg, type::half},
    {&arg, type::bfloat16},  {&arg, type::code},      {&arg64, type::float64}};
constexpr operand_case unusual[] = {
    {&sum, type::float64},    {&sum, type::boolean},        {&sum64, type::float32},
    {&sum64, type::code},     {&first, type::float32},      {&first, type::code},
    {&pair, type::boolean},   {&pair, type::float32},       {&mean, type::float32},
    {&sum_16, type::float32}, {&sum_16, type::half},        {&sum_72, type::float32},
    {&triple, type::other},   {&first_triple, type::other}, {&unseen, type::float32}};

/// The layout of an array in memory: its first element, and its rows.
struct array_layout {
  int elements_on = 0;
  int64 columns_more = 0;
  std::size_t unit_bytes = 1;  ///< rows begin on multiples of it
};
struct layout_case {
  const char* name;
  array_layout b, c;
};
constexpr layout_case packed = {"packed", {}, {}};
constexpr layout_case layouts[] = {
    {"B one on", {1}, {}},           {"B in lines", {0, 0, 128}, {}},
    {"B in packs", {0, 0, 16}, {}},  {"B 16 columns more", {0, 16}, {}},
    {"B a column more", {0, 1}, {}}, {"C one on", {}, {1}},
    {"C a column more", {}, {0, 1}}};

/// Other properties of a call.
struct call_case {
  const char* name;
  rig::accumulator accum = rig::accumulator::none;
  rig::mask_operand::kind mask = rig::mask_operand::kind::absent;
  type c = type::other;  ///< if not as the semiring's results
  type a = type::other;  ///< if not as the semiring has it
  bool iso = false, permuted = false, fills = false, rescales = false, reproducible = true,
       transposes = false, in_words = false;
};
constexpr call_case plain = {"plain"};
constexpr auto no_accum = rig::accumulator::none;
constexpr auto no_mask = rig::mask_operand::kind::absent;
constexpr call_case calls[] = {{"plus", rig::accumulator::plus},
                               {"masked", no_accum, rig::mask_operand::kind::matrix},
                               {"masked by a dense", no_accum, rig::mask_operand::kind::dense},
                               {"C of half", no_accum, no_mask, type::half},
                               {"C of double", no_accum, no_mask, type::float64},
                               {"A of int32", no_accum, no_mask, type::other, type::int32},
                               {.name = "A iso", .iso = true},
                               {.name = "A permuted", .permuted = true},
                               {.name = "filled", .fills = true},
                               {.name = "any order", .reproducible = false},
                               {.name = "in words", .in_words = true}};
constexpr call_case sampled_calls[] = {{"plus", rig::accumulator::plus},
                                       {.name = "rescaled", .rescales = true},
                                       {.name = "A permuted", .permuted = true}};
constexpr call_case backward_calls[] = {
    {.name = "transposed", .permuted = true, .transposes = true},
    {.name = "transposed in any order",
     .permuted = true,
     .reproducible = false,
     .transposes = true},
    {.name = "transposed in words", .permuted = true, .transposes = true, .in_words = true},
    {.name = "plain"},
    {.name = "transposed plus", .accum = rig::accumulator::plus, .iso = true, .transposes = true}};

/// Tables with rows before the built-in ones, as tests and the benchmark use them.
struct tuned_case {
  const char* name;
  std::initializer_list<std::string> rows;
  rig::accumulator accum = rig::accumulator::none;
};
const tuned_case tuned_cases[] = {
    {"vectors",
     {"tiles,,tile_lanes=0", "copy,,padded=1",
      "row,load=vector element=1_byte|2_bytes|4_bytes|8_bytes|other store=plain," +
          lanes(8, 8, 6, 1)}},
    {"scalars",
     {"tiles,,tile_lanes=0",
      "load,element=1_byte|2_bytes|4_bytes|8_bytes|other store=plain,vector_bytes=0",
      "row,element=1_byte|2_bytes|4_bytes|8_bytes|other store=plain," + lanes(8, 8, 4, 5)}},
    {"tiles of 8",
     {"tiles,over_tiles=1," + lanes(8, 32, 6, 1), "tiles,,tile_lanes=0", "copy,,padded=1"}},
    {"tiles of 4 by 2",
     {"tiles,over_tiles<=4," + lanes(4, 16, 6, 2), "tiles,,tile_lanes=0", "copy,,padded=1"}},
    {"tiles of 24", {"tiles,," + lanes(8, 32, 6, 3), "tiles,,tile_lanes=0", "copy,,padded=1"}},
    {"vectors plus",
     {"tiles,,tile_lanes=0", "copy,store=plain,padded=1",
      "row,load=vector store=plain," + lanes(8, 8, 6, 1)},
     rig::accumulator::plus},
    {"segments of 256",
     {"segments,longest_over_mean<4 longest_rows>=12000,split_length=0",
      "segments,,split_length=256"}},
    {"rows in order", {"order,,by_length=0"}}};

enum class retained_in : unsigned char { nothing, b, mask };

/// A point of the grid.
struct point {
  const graph_facts* graph;
  const operand_case* operands;
  const layout_case* layout;
  const call_case* call;
  index columns;
  rig::sampling samples = rig::sampling::whole;
  int width = 0;
  retained_in retained = retained_in::nothing;
  int k = 0;
};

constexpr index columns_beyond[] = {320,   321,   352,    384,       385,      400,   448,   500,
                                    512,   513,   514,    516,       600,      602,   640,   768,
                                    769,   1'000, 1'024,  1'025,     1'433,    2'048, 2'049, 3'703,
                                    4'096, 4'097, 65'537, 1'048'577, 1'048'609};
constexpr index few_columns[] = {1,  4,  7,  8,   9,   13,  16,  24,  32,  33,  47,  56,
                                 64, 65, 96, 100, 112, 128, 129, 160, 200, 256, 257, 288};
constexpr index sampled_columns[] = {1,  3,  7,  8,   9,   16,  24,  30,  32,  40,  41,
                                     48, 64, 96, 100, 128, 129, 192, 256, 260, 512, 1'024};
constexpr int sampled_widths[] = {1,   8,   15,  16,  17,  24,  31,    32,    33,    48,
                                  63,  64,  65,  96,  99,  100, 101,   127,   128,   129,
                                  200, 255, 256, 257, 511, 512, 1'023, 1'024, 2'048, 4'096};
constexpr index top_k_columns[] = {16,  64,  100,   128,   256,    257,
                                   384, 512, 1'024, 4'096, 20'000, 70'000};
constexpr int top_k_counts[] = {1,  2,  4,  6,  8,  12, 16,  18,  24,  31, 32,
                                33, 48, 63, 64, 65, 96, 128, 192, 256, 512};

std::size_t bytes_of(type t) {
  switch (t) {
    case type::boolean:
    case type::code:
      return 1;
    case type::half:
    case type::bfloat16:
      return 2;
    case type::int32:
    case type::float32:
      return 4;
    case type::int64:
    case type::float64:
      return 8;
    case type::other:
      break;
  }
  return 12;
}

const char* name_of(type t) {
  static constexpr const char* names[] = {"bool", "int32",    "int64", "float", "double",
                                          "half", "bfloat16", "codes", "other"};
  return names[static_cast<int>(t)];
}

rig::dense_operand array_of(type t, index rows, index columns, const array_layout& layout) {
  rig::dense_operand out;
  out.value_type = t;
  out.value_bytes = bytes_of(t);
  const auto unit =
      static_cast<int64>(std::max(layout.unit_bytes / out.value_bytes, std::size_t{1}));
  out.rows = rows;
  out.columns = columns;
  out.stride = (columns + unit - 1) / unit * unit + layout.columns_more;
  out.data = somewhere(static_cast<std::size_t>(layout.elements_on) * out.value_bytes);
  out.where = rig::cuda();
  return out;
}

/// Makes a cbsr of `out`, whose indices lie as its values do.
void make_cbsr(rig::dense_operand& out, int k, const array_layout& layout) {
  out.k = k;
  out.stride = k;
  out.indices_8 = out.columns <= 256;
  out.indices = somewhere(static_cast<std::size_t>(layout.elements_on) * (out.indices_8 ? 1 : 2));
}

/// The patterns of a graph, as if they lay on a device: as A is read, and as it is stored.
struct graph_patterns {
  rig::pattern oriented, stored;
  explicit graph_patterns(const graph_facts& of)
      : oriented(make(of, of.rows, of.columns)), stored(make(of, of.columns, of.rows)) {}

 private:
  static rig::pattern make(const graph_facts& of, index rows, index columns) {
    const auto array = [] { return rig::buffer::borrow(somewhere(), 4096, rig::cuda()); };
    return {rows, columns, of.nnz, array(), of.offsets_64, array()};
  }
};

void set_a(rig::problem& p, const point& at) {
  const graph_facts& g = *at.graph;
  p.a.rows = g.rows;
  p.a.columns = g.columns;
  p.a.nnz = g.nnz;
  p.a.offsets_64 = g.offsets_64;
  p.a.where = rig::cuda();
  p.a.offsets = somewhere();
  p.a.entries = static_cast<const index*>(somewhere());
  p.a.value_type = at.call->a != type::other ? at.call->a : p.algebra->left;
  p.a.value_bytes = bytes_of(p.a.value_type);
  if (!at.call->iso) p.a.values = somewhere();
  if (at.call->permuted && !at.call->iso) p.a.permutation = somewhere();
}

/// The problem of a point; `desc` and `of` must outlive the problem.
rig::problem problem_of(const point& at, rig::descriptor& desc, const graph_patterns& of) {
  rig::problem p;
  p.algebra = at.operands->algebra;
  p.reasons = at.call->in_words;
  desc.width = at.width;
  desc.k = at.k;
  desc.rescale = at.call->rescales;
  desc.reproducible = at.call->reproducible;
  desc.transpose_a = at.call->transposes;
  desc.stream = somewhere();
  if (at.call->fills) desc.fill = 1;
  p.desc = &desc;
  set_a(p, at);
  p.oriented = &of.oriented;
  p.structure = at.call->transposes ? &of.stored : &of.oriented;
  p.b = array_of(at.operands->b, p.a.columns, at.columns, at.layout->b);
  p.b.low = p.b.step = static_cast<const float*>(somewhere());
  const type c = at.call->c != type::other ? at.call->c : p.algebra->result;
  p.c = array_of(c, p.a.rows, at.columns, at.layout->c);
  if (p.algebra->is_indexed) p.indices = array_of(type::int32, p.a.rows, at.columns, at.layout->c);
  p.accum = at.call->accum;
  p.mask.over = at.call->mask;
  if (at.retained == retained_in::b) make_cbsr(p.b, at.k, at.layout->b);
  if (at.retained == retained_in::mask) {
    p.mask.over = rig::mask_operand::kind::cbsr;
    p.mask.structural = true;
    make_cbsr(p.c, at.k, at.layout->c);
    p.mask.full = p.c;
  }
  rig::on_cuda::find_statistics(p);
  return p;
}

/// The answers of the kernels, and the kernel that would run.
const rig::kernel* choose(const rig::problem& p, const point& at, std::string& answers) {
  static constexpr const char* verdicts[] = {" can", " slower", " cannot"};
  const rig::kernel* named = nullptr;
  for (const rig::kernel& k : rig::kernels()) {
    const bool is_asked = at.samples != rig::sampling::whole
                              ? k.samples == at.samples
                              : includes(k.takes, operands_of(p)) &&
                                    (!k.approximate || at.retained == retained_in::b);
    if (k.where != rig::place::kind::cuda || !is_asked) continue;
    rig::answer says = k.answers(p);
    ((answers += answers.empty() ? "" : "; ") += k.name) += verdicts[static_cast<int>(says.says)];
    replace_all(says.reason, ",", "");
    if (!says.reason.empty()) (answers += ": ") += says.reason;
    if (p.reasons) add_words(answers, "ps", std::llround(says.seconds * 1e12));
    if (at.samples != rig::sampling::whole && says.says != rig::verdict::cannot) named = &k;
  }
  return at.samples != rig::sampling::whole ? named : rig::cheapest_kernel(p);
}

/// If set, collects the rows of the tuning table that points meet, as "section,conditions".
std::set<std::string>* met = nullptr;

void note_rows(const rig::problem& p, rig::sampling how) {
  const rig::on_cuda::launch_plan plan = rig::on_cuda::plan_of(rig::on_cuda::facts_of(p, how));
  for (const rig::on_cuda::tuning_row* row : {plan.row, plan.load, plan.copy, plan.rare})
    if (row != nullptr) met->insert(section_name(row->in) + (',' + row->key));
}

/// The launches, as the last columns of a line.
std::string plan_of(const point& at, const graph_patterns& of) {
  rig::descriptor desc;
  const rig::problem p = problem_of(at, desc, of);
  std::string out;
  const rig::kernel* const chosen = choose(p, at, out);
  if (chosen == nullptr) return out + ",none,,,,,,";
  seen = {};
  try {
    rig::workspace work;
    chosen->run(p, work);
    if (met != nullptr && at.retained == retained_in::nothing) note_rows(p, at.samples);
  } catch (const asks_the_device&) {
    (seen.launches += seen.launched > 0 ? "; then " : "") += "asked for";
    for (const std::string& kernel : seen.kernels)
      if (!kernel.empty()) (seen.launches += ' ') += kernel;
  }
  ((out += ',') += chosen->name) += ',';
  ((out += seen.b_copy) += ',') += seen.by_length ? "by length" : "in order";
  ((out += ',') += std::to_string(seen.split_length)) += ',';
  ((out += std::to_string(seen.segments)) += ',') += seen.reads;
  return (out += ',') += seen.launches;
}

constexpr const char* header =
    "graph,columns,semiring,B,layout,call,sampling,width,k,"
    "answers,kernel,copy of B,rows,split length,segments,entries,launches\n";
constexpr const char* samplings[] = {"exact", "bucket", "fastrand", "adaptive"};
constexpr const char* kinds_of_retained[] = {"none", "maxk", "maxk_backward"};

const char* kind_of(const point& at) {
  return at.retained != retained_in::nothing ? kinds_of_retained[static_cast<int>(at.retained)]
                                             : samplings[static_cast<int>(at.samples)];
}

/// The first columns of a line.
std::string key_of(const point& at) {
  std::string out = "\"";
  ((out += at.graph->name) += "\",") += std::to_string(at.columns);
  ((out += ',') += at.operands->algebra->name) += ',';
  ((out += name_of(at.operands->b)) += ',') += at.layout->name;
  ((out += ',') += at.call->name) += ',';
  ((out += kind_of(at)) += ',') += std::to_string(at.width);
  ((out += ',') += std::to_string(at.k)) += ',';
  return out;
}

/// Takes every `step`th of the given points.
struct taker {
  const std::function<void(const point&)>& take;
  int step = 1;
  int given = 0;
  void operator()(const point& at) {
    if (given++ % step == 0) take(at);
  }
};

void exact_points(const graph_facts& g, taker take) {
  for (index columns = 1; columns <= 300; ++columns)
    for (const operand_case& some : usual) {
      take({&g, &some, &packed, &plain, columns});
      for (const layout_case& layout : {layouts[0], layouts[3]})
        take({&g, &some, &layout, &plain, columns});
    }
  for (const index columns : columns_beyond)
    for (const operand_case& some : usual) take({&g, &some, &packed, &plain, columns});
}

void varied_points(const graph_facts& g, taker take) {
  for (const index columns : few_columns) {
    for (const operand_case& some : unusual) {
      take({&g, &some, &packed, &plain, columns});
      take({&g, &some, &layouts[0], &plain, columns});
    }
    for (const operand_case& some : usual) {
      for (const layout_case& layout : layouts) take({&g, &some, &layout, &plain, columns});
      for (const call_case& call : calls) take({&g, &some, &packed, &call, columns});
    }
  }
}

void tuned_points(const graph_facts& g, const tuned_case& tables, taker take) {
  const call_case call = {tables.name, tables.accum};
  for (const index columns : few_columns)
    for (const operand_case& some : usual) take({&g, &some, &packed, &call, columns});
}

void sampled_points(const graph_facts& g, taker take) {
  using enum rig::sampling;
  for (const rig::sampling how : {bucket, fastrand, adaptive})
    for (const index columns : sampled_columns) {
      for (const operand_case& some : unusual) take({&g, &some, &packed, &plain, columns, how, 64});
      for (const int width : sampled_widths) {
        for (const operand_case& some : usual)
          take({&g, &some, &packed, &plain, columns, how, width});
        for (const call_case& call : sampled_calls)
          take({&g, usual, &packed, &call, columns, how, width});
        take({&g, usual, &layouts[0], &plain, columns, how, width});
      }
    }
}

void top_k_points(const graph_facts& g, taker take) {
  constexpr auto whole = rig::sampling::whole;
  for (const index columns : top_k_columns)
    for (const int k : top_k_counts) {
      if (k > columns) continue;
      for (const std::span<const operand_case> some :
           {std::span<const operand_case>(usual), std::span<const operand_case>(unusual)})
        for (const operand_case& operands : some) {
          take({&g, &operands, &packed, &plain, columns, whole, 0, retained_in::b, k});
          for (const call_case& call : backward_calls)
            take({&g, &operands, &packed, &call, columns, whole, 0, retained_in::mask, k});
        }
      for (const layout_case& layout : layouts) {
        take({&g, usual, &layout, &plain, columns, whole, 0, retained_in::b, k});
        take({&g, usual, &layout, backward_calls, columns, whole, 0, retained_in::mask, k});
      }
      for (const call_case& call : calls)
        if (call.mask == rig::mask_operand::kind::absent)
          take({&g, usual, &packed, &call, columns, whole, 0, retained_in::b, k});
    }
}

/// All points of the graphs with these names, or of all graphs, with their plans. Graphs outside
/// the benchmark have fewer points.
void go_through(std::span<char* const> names,
                const std::function<void(const point&, const std::string& plan)>& take) {
  const std::vector<graph_facts> graphs = all_facts();
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const graph_facts& g = graphs[i];
    const auto is_name = [&](const char* name) { return std::string_view(name) == g.name; };
    if (!names.empty() && std::none_of(names.begin(), names.end(), is_name)) continue;
    looked_at = &g;
    const graph_patterns usual_lists(g);
    const std::function<void(const point&)> one = [&](const point& at) {
      take(at, plan_of(at, usual_lists));
    };
    const bool everywhere = i < benchmark_graphs;
    // The steps are odd primes, so that every operand and layout is met in turn.
    exact_points(g, {one, everywhere ? 1 : 2});
    varied_points(g, {one, everywhere ? 1 : 7});
    sampled_points(g, {one, everywhere ? 1 : 3});
    top_k_points(g, {one, everywhere ? 5 : 17});
    for (const tuned_case& tables : tuned_cases) {
      const tuned in_use(tables.rows);
      const graph_patterns lists(g);
      const std::function<void(const point&)> tuned_one = [&](const point& at) {
        take(at, plan_of(at, lists));
      };
      tuned_points(g, tables, {tuned_one, everywhere ? 1 : 7});
    }
  }
}

/// FNV-1a.
std::uint64_t hash_of(std::string_view text, std::uint64_t before = 14695981039346656037u) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return before;
}

struct digest {
  int64 points = 0;
  std::uint64_t hash = hash_of("");
};
struct digests {
  std::map<std::string, digest> of_graphs;
  std::unordered_set<std::uint64_t> plans;
  int64 points = 0;
};

digests all_digests() {
  digests out;
  go_through({}, [&](const point& at, const std::string& plan) {
    digest& of = out.of_graphs[at.graph->name];
    ++of.points;
    of.hash = hash_of("\n", hash_of(plan, hash_of(key_of(at), of.hash)));
    out.plans.insert(hash_of(plan));
    ++out.points;
  });
  return out;
}

std::vector<std::string> lines_of(const digests& of) {
  std::vector<std::string> out;
  for (const auto& [graph, some] : of.of_graphs) {
    char numbers[64];
    std::snprintf(numbers, sizeof(numbers), "\t%ld\t%016" PRIx64, static_cast<long>(some.points),
                  some.hash);
    out.push_back(graph + numbers);
  }
  return out;
}

int dump(const char* path, std::span<char* const> graphs) {
  std::ofstream out(path);
  out << header;
  go_through(graphs,
             [&](const point& at, const std::string& plan) { out << key_of(at) << plan << '\n'; });
  out.close();
  if (out) return 0;
  std::fprintf(stderr, "plan_dump: %s cannot be written\n", path);
  return 1;
}

int compare() {
  const digests found = all_digests();
  const std::vector<std::string> lines = lines_of(found);
  std::printf("%ld points, %zu plans, %zu graphs\n", static_cast<long>(found.points),
              found.plans.size(), lines.size());
  std::vector<std::string> known;
  std::ifstream file(RIG_SOURCE_DIR "/tests/cuda/plan_dump.digests");
  for (std::string line; std::getline(file, line);) known.push_back(line);
  std::vector<std::string> differ;
  std::set_symmetric_difference(lines.begin(), lines.end(), known.begin(), known.end(),
                                std::back_inserter(differ));
  if (differ.empty()) return 0;
  std::printf("other choices than in tests/cuda/plan_dump.digests, on these graphs first:\n");
  for (std::size_t i = 0; i < differ.size() && i < 20; ++i)
    std::printf("  %s\n", differ[i].c_str());
  std::printf("run plan_dump FILE GRAPH of both versions and compare the files line by line\n");
  return 1;
}

/// The counts of row_statistics.cu, and the segments of row_panels.
graph_facts statistics_of(const char* name, const rig::pattern& a) {
  graph_facts out{name, a.rows(), a.columns(), a.nnz()};
  int64 near = 0, middles = 0;
  std::vector<index> last_panel(static_cast<std::size_t>(a.columns()), -1);
  for (index i = 0; i < a.rows(); ++i) {
    const int64 begin = a.offset(i), length = a.offset(i + 1) - begin;
    out.longest = std::max(out.longest, length);
    out.filled += length > 0;
    for (int c = 0; c < rig::on_cuda::split_length_count; ++c) {
      const int64 split_length = rig::on_cuda::nth_split_length(c);
      if (length <= split_length) continue;
      ++out.split_rows[c];
      const int64 segment = rig::on_cuda::splits_per_segment * split_length;
      out.segments[c] += static_cast<index>((length - 1) / segment + 1);
    }
    for (int64 e = begin; e < begin + length; ++e) {
      index& last = last_panel[static_cast<std::size_t>(a.column_indices()[e])];
      out.panel_segments += last != i / rig::on_cuda::panel_rows;
      last = i / rig::on_cuda::panel_rows;
    }
    if (i % 16 != 0 || length == 0) continue;
    const int64 away = a.column_indices()[begin + length / 2] - int64{i} * a.columns() / a.rows();
    ++middles;
    near += std::abs(away) <= a.columns() / 32;
  }
  for (index i = 0; i < a.rows(); i += 4) {
    int64 longest = 0;
    for (index r = i; r < a.rows() && r < i + 4; ++r)
      longest = std::max(longest, a.offset(r + 1) - a.offset(r));
    out.quads += 4 * longest;
  }
  out.local = near * 2 > middles;
  return out;
}

/// Nothing else checks, without a GPU, the names of kernel text that host code holds as strings.
int compile_kinds() {
  std::map<std::string, rig::on_cuda::kernel_source> found;
  sources = &found;
  all_digests();
  int refused = 0;
  for (const auto& [kind, source] : found) try {
      std::string name;
      rig::on_cuda::compile_to_cubin(source, 90, name);
    } catch (const rig::error& e) {
      std::printf("%s: %s\n", source.expression.c_str(), e.what());
      ++refused;
    }
  std::printf("%zu kinds of kernels, %d do not compile\n", found.size(), refused);
  return found.empty() || refused > 0 ? 1 : 0;
}

/// Rows of sections that no launch plan names are not counted.
int print_unmet() {
  using enum rig::on_cuda::section;
  std::set<std::string> found;
  met = &found;
  all_digests();
  for (const rig::on_cuda::tuning_row& row : rig::on_cuda::current_table().rows()) {
    const bool is_named = row.in == load || row.in == copy || row.in == tiles ||
                          row.in == rig::on_cuda::section::row || row.in == rare_samples;
    const std::string key = section_name(row.in) + (',' + row.key);
    if (is_named && !found.contains(key)) std::printf("%s\n", key.c_str());
  }
  return 0;
}

int print_statistics(std::span<char* const> names) {
  for (const char* const name : names) {
    const rig::matrix<float> graph = rig::generate::from_text(name);
    const graph_facts f = statistics_of(name, graph.structure());
    std::printf("{\"%s\", %d, %d, %ld, %ld, %ld, %ld, %ld, ", f.name, f.rows, f.columns,
                static_cast<long>(f.nnz), static_cast<long>(f.longest), static_cast<long>(f.quads),
                static_cast<long>(f.filled), static_cast<long>(f.panel_segments));
    for (const auto& counts : {f.split_rows, f.segments})
      for (int c = 0; c < split_lengths; ++c) std::printf("%d, ", counts[c]);
    std::printf("%s},\n", f.local ? "true" : "false");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // The points are the same with a GPU and without one.
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::span<char* const> rest(argv + std::min(argc, 2), argv + argc);
  if (what == "--statistics") return print_statistics(rest);
  // Without a run-time compiler, other kernels serve.
  if (const char* const why = rig::on_cuda::no_compiler_because()) {
    std::printf("SKIPPED: %s\n", why);
    return 77;
  }
  if (what.empty()) return compare();
  if (what == "--compile") return compile_kinds();
  if (what == "--unmet") return print_unmet();
  if (!what.starts_with("-")) return dump(argv[1], rest);
  if (what != "--digests") {
    std::fprintf(stderr,
                 "plan_dump [FILE GRAPH… | --compile | --digests | --statistics | --unmet]\n");
    return 2;
  }
  for (const std::string& line : lines_of(all_digests())) std::printf("%s\n", line.c_str());
  return 0;
}
