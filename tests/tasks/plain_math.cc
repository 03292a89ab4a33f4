#include "tests/tasks/plain_math.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace ksearch {
namespace {

using Outputs = std::map<std::string, std::vector<double>>;
using Values = std::vector<double>;

size_t Size(const PlainArguments& a, const char* axis) {
  return static_cast<size_t>(a.axes.at(axis));
}
size_t Index(double value) { return static_cast<size_t>(value); }

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Outputs RmsNorm(const PlainArguments& a) {
  const Values &x = a.inputs.at("hidden_states"), &weight = a.inputs.at("weight");
  const size_t h = Size(a, "hidden_size");
  Values y(x.size());
  for (size_t row = 0; row < Size(a, "batch_size"); ++row) {
    double mean = 0;
    for (size_t i = 0; i < h; ++i) mean += x[row * h + i] * x[row * h + i] / double(h);
    for (size_t i = 0; i < h; ++i) {
      y[row * h + i] = x[row * h + i] / std::sqrt(mean + 1e-5) * weight[i];
    }
  }
  return {{"output", y}};
}

Outputs Gemm(const PlainArguments& a) {
  const size_t m = Size(a, "M"), n = Size(a, "N"), k = Size(a, "K");
  Values c(m * n);
  for (size_t i = 0; i < m * n; ++i) {
    for (size_t d = 0; d < k; ++d) {
      c[i] += a.inputs.at("A")[i / n * k + d] * a.inputs.at("B")[i % n * k + d];
    }
  }
  return {{"C", c}};
}

// One query against keys: appends to output (as wide as a value) and lse.
void AttendOne(const std::vector<Values>& keys, const std::vector<Values>& values,
               const Values& query, double scale, size_t width, Values* output, Values* lse) {
  Values logits;
  for (const Values& key : keys) {
    logits.push_back(scale * std::inner_product(key.begin(), key.end(), query.begin(), 0.0));
  }
  double sum = 0;
  const double max = logits.empty() ? 0 : *std::max_element(logits.begin(), logits.end());
  for (const double logit : logits) sum += std::exp(logit - max);
  Values result(width);
  for (size_t t = 0; t < values.size(); ++t) {
    for (size_t d = 0; d < width; ++d) {
      result[d] += std::exp(logits[t] - max) / sum * values[t][d];
    }
  }
  output->insert(output->end(), result.begin(), result.end());
  lse->push_back(logits.empty() ? -INFINITY : std::log2(sum) + max / std::log(2.0));
}

Values Slice(const Values& from, size_t begin, size_t count) {
  return Values(from.begin() + static_cast<long>(begin),
                from.begin() + static_cast<long>(begin + count));
}

// The pages that sequence b sees.
std::vector<size_t> PagesOf(const PlainArguments& a, size_t b) {
  const Values& indptr = a.inputs.at("kv_indptr");
  std::vector<size_t> pages;
  for (size_t i = Index(indptr[b]); i < Index(indptr[b + 1]); ++i) {
    pages.push_back(Index(a.inputs.at("kv_indices")[i]));
  }
  return pages;
}

Outputs GqaDecode(const PlainArguments& a) {
  const size_t heads = Size(a, "num_qo_heads"), kv_heads = Size(a, "num_kv_heads");
  const size_t dim = Size(a, "head_dim");
  Values output, lse;
  for (size_t b = 0; b < Size(a, "batch_size"); ++b) {
    for (size_t h = 0; h < heads; ++h) {
      std::vector<Values> keys, values;
      for (const size_t page : PagesOf(a, b)) {
        const size_t at = (page * kv_heads + h * kv_heads / heads) * dim;
        keys.push_back(Slice(a.inputs.at("k_cache"), at, dim));
        values.push_back(Slice(a.inputs.at("v_cache"), at, dim));
      }
      AttendOne(keys, values, Slice(a.inputs.at("q"), (b * heads + h) * dim, dim),
                a.scalars.at("sm_scale"), dim, &output, &lse);
    }
  }
  return {{"output", output}, {"lse", lse}};
}

// Decode is prefill with one query each.
Outputs Mla(const PlainArguments& a) {
  const size_t heads = Size(a, "num_qo_heads");
  const size_t ckv = Size(a, "head_dim_ckv"), kpe = Size(a, "head_dim_kpe");
  const bool prefill = a.inputs.count("qo_indptr") > 0;
  Values output, lse;
  for (size_t b = 0; b + 1 < a.inputs.at("kv_indptr").size(); ++b) {
    const size_t first = prefill ? Index(a.inputs.at("qo_indptr")[b]) : b;
    const size_t last = prefill ? Index(a.inputs.at("qo_indptr")[b + 1]) : b + 1;
    const std::vector<size_t> pages = PagesOf(a, b);
    for (size_t token = first; token < last; ++token) {
      const size_t hidden = last - 1 - token;  // keys of later queries
      std::vector<Values> keys, values;
      for (size_t t = 0; t + hidden < pages.size(); ++t) {
        values.push_back(Slice(a.inputs.at("ckv_cache"), pages[t] * ckv, ckv));
        keys.push_back(values.back());
        const Values more = Slice(a.inputs.at("kpe_cache"), pages[t] * kpe, kpe);
        keys.back().insert(keys.back().end(), more.begin(), more.end());
      }
      for (size_t h = 0; h < heads; ++h) {
        Values query = Slice(a.inputs.at("q_nope"), (token * heads + h) * ckv, ckv);
        const Values more = Slice(a.inputs.at("q_pe"), (token * heads + h) * kpe, kpe);
        query.insert(query.end(), more.begin(), more.end());
        AttendOne(keys, values, query, a.scalars.at("sm_scale"), ckv, &output, &lse);
      }
    }
  }
  return {{"output", output}, {"lse", lse}};
}

Outputs Moe(const PlainArguments& a) {
  const size_t tokens = Size(a, "seq_len"), experts = Size(a, "num_experts");
  const size_t hidden = Size(a, "hidden_size"), inter = Size(a, "intermediate_size");
  const size_t group = experts / 8;
  const auto block = [&](const char* tensor, size_t expert, size_t rows, size_t columns, size_t row,
                         size_t column) {
    const double value = a.inputs.at(tensor)[(expert * rows + row) * columns + column];
    const Values& scale = a.inputs.at(std::string(tensor) + "_scale");
    return value * scale[(expert * (rows / 128) + row / 128) * (columns / 128) + column / 128];
  };
  Values output(tokens * hidden);
  for (size_t t = 0; t < tokens; ++t) {
    Values score(experts), choice(experts);
    for (size_t e = 0; e < experts; ++e) {
      score[e] = Sigmoid(a.inputs.at("routing_logits")[t * experts + e]);
      choice[e] = score[e] + a.inputs.at("routing_bias")[e];
    }
    std::vector<std::pair<double, size_t>> groups;
    for (size_t g = 0; g < 8; ++g) {
      Values members = Slice(choice, g * group, group);
      std::sort(members.rbegin(), members.rend());
      groups.emplace_back(-(members[0] + members[1]), g);
    }
    std::sort(groups.begin(), groups.end());
    std::vector<std::pair<double, size_t>> ranked;
    for (size_t n = 0; n < 4; ++n) {
      for (size_t e = 0; e < group; ++e) {
        const size_t expert = groups[n].second * group + e;
        ranked.emplace_back(-choice[expert], expert);
      }
    }
    std::sort(ranked.begin(), ranked.end());
    double sum = 1e-20;
    for (size_t n = 0; n < 8; ++n) sum += score[ranked[n].second];
    for (size_t n = 0; n < 8; ++n) {
      const double local =
          static_cast<double>(ranked[n].second) - a.scalars.at("local_expert_offset");
      if (local < 0 || local >= static_cast<double>(Size(a, "num_local_experts"))) continue;
      const size_t e = Index(local);
      Values up(2 * inter);
      for (size_t i = 0; i < 2 * inter; ++i) {
        for (size_t d = 0; d < hidden; ++d) {
          up[i] += a.inputs.at("hidden_states")[t * hidden + d] *
                   a.inputs.at("hidden_states_scale")[d / 128 * tokens + t] *
                   block("gemm1_weights", e, 2 * inter, hidden, i, d);
        }
      }
      const double weight = score[ranked[n].second] / sum * a.scalars.at("routed_scaling_factor");
      for (size_t i = 0; i < inter; ++i) {
        const double c = up[inter + i] * Sigmoid(up[inter + i]) * up[i] * weight;
        for (size_t d = 0; d < hidden; ++d) {
          output[t * hidden + d] += c * block("gemm2_weights", e, hidden, inter, d, i);
        }
      }
    }
  }
  return {{"output", output}};
}

Values LayerNorm(const Values& x, const Values& weight, const Values& bias) {
  const double n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double variance = 0;
  for (const double value : x) variance += (value - mean) * (value - mean) / n;
  Values y;
  for (size_t i = 0; i < x.size(); ++i) {
    y.push_back((x[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i]);
  }
  return y;
}

Values Apply(const Values& matrix, const Values& vector) {
  Values result(matrix.size() / vector.size());
  for (size_t i = 0; i < matrix.size(); ++i) {
    result[i / vector.size()] += matrix[i] * vector[i % vector.size()];
  }
  return result;
}

Outputs TriMul(const PlainArguments& a) {
  const size_t n = Size(a, "seq_len"), dim = Size(a, "dim"), hidden = Size(a, "hidden_dim");
  const size_t pairs = Size(a, "batch_size") * n * n;
  std::vector<Values> left, right, gate;
  for (size_t p = 0; p < pairs; ++p) {
    const Values y = LayerNorm(Slice(a.inputs.at("x"), p * dim, dim), a.inputs.at("norm_weight"),
                               a.inputs.at("norm_bias"));
    const double seen = a.inputs.at("mask")[p];
    for (const bool is_left : {true, false}) {
      Values side = Apply(a.inputs.at(is_left ? "left_proj" : "right_proj"), y);
      const Values open = Apply(a.inputs.at(is_left ? "left_gate" : "right_gate"), y);
      for (size_t d = 0; d < hidden; ++d) side[d] *= seen * Sigmoid(open[d]);
      (is_left ? left : right).push_back(side);
    }
    gate.push_back(Apply(a.inputs.at("out_gate"), y));
  }
  Values output;
  for (size_t p = 0; p < pairs; ++p) {
    const size_t batch = p / (n * n), i = p / n % n, j = p % n;
    Values o(hidden);
    for (size_t k = 0; k < n; ++k) {
      for (size_t d = 0; d < hidden; ++d) {
        o[d] += left[(batch * n + i) * n + k][d] * right[(batch * n + j) * n + k][d];
      }
    }
    o = LayerNorm(o, a.inputs.at("to_out_norm_weight"), a.inputs.at("to_out_norm_bias"));
    for (size_t d = 0; d < hidden; ++d) o[d] *= Sigmoid(gate[p][d]);
    const Values out = Apply(a.inputs.at("to_out"), o);
    output.insert(output.end(), out.begin(), out.end());
  }
  return {{"output", output}};
}

}  // namespace

std::map<std::string, std::vector<double>> PlainOutputs(const std::string& op_type,
                                                        const PlainArguments& arguments) {
  if (op_type == "rmsnorm") return RmsNorm(arguments);
  if (op_type == "gemm") return Gemm(arguments);
  if (op_type == "gqa_paged") return GqaDecode(arguments);
  if (op_type == "mla_paged") return Mla(arguments);
  if (op_type == "moe") return Moe(arguments);
  if (op_type == "trimul") return TriMul(arguments);
  std::abort();
}

}  // namespace ksearch
