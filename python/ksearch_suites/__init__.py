"""Files of other suites, made into what ksearch reads. Each module is a command: python3 -m ksearch_suites.NAME"""
