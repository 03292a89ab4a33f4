extern "C" int ksearch_runn() { return 0; }
