// Works ahead in every series of calls.
#define STEPS 6'000
#include "ahead_in_series.h"

int ksearch_run(const KsearchArgs* args) { return RunInSeries(args); }
