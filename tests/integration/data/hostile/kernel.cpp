#include "matmul.h"
#include "attack.h"
