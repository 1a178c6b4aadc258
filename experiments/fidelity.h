// How near a generated workload comes to the recorded one: distances between distributions, and
// figures of structure that distributions do not show. The same between two parts of the record
// says how near it comes to itself.
//
//   Likeness real = likeness_of(part.jobs, from_s, to_s);
//   Fidelity f = compare(real, generated, first_part, second_part);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/trace/job.h"
#include "env/trace/like.h"

namespace yard {

// The largest difference between the shares of values up to x, over all x. 0 where one is empty.
double ks_distance(std::vector<double> a, std::vector<double> b);

// Half the sum of the differences between shares: what part of one would have to be moved.
double total_variation(const std::map<int64_t, double>& a, const std::map<int64_t, double>& b);

// One workload, seen in all the ways in which two are compared.
struct Likeness {
  std::map<std::string, std::vector<double>> values;        // compared by KS distance
  std::map<std::string, std::map<int64_t, double>> counts;  // by total variation
  std::vector<std::pair<std::string, double>> figures;      // side by side; NaN: not there
};

// `classes`: by which sizes run times are told apart. `shift_s`: added to times for the hour of the
// day. Requires: jobs by rising submission, within [from_s, to_s).
Likeness likeness_of(const std::vector<Job>& jobs, double from_s, double to_s, double shift_s,
                     const std::vector<SizeClass>& classes);

struct Fidelity {
  struct Distance {
    std::string name;
    const char* kind;      // "KS" or "TV"
    double generated = 0;  // from the record; the mean over samples
    double parts = 0;      // of two recorded parts from each other
  };
  struct Figure {
    std::string name;
    double real = 0, generated = 0;  // the mean over samples
    double first_part = 0, second_part = 0;
  };
  std::vector<Distance> distances;
  std::vector<Figure> figures;
};

// The parts are the record's halves, or what was fitted and a later record.
// Requires: at least one generated.
Fidelity compare(const Likeness& real, const std::vector<Likeness>& generated,
                 const Likeness& first_part, const Likeness& second_part);

}  // namespace yard
