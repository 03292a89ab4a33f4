"""What ksearch_runner.py is made of besides its callbacks: an idea a module."""
