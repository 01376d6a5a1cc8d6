#pragma once
/// What the tests of data need most: a folder of their own, and what a UserError said.
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
