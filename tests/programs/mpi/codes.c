// SPDX-License-Identifier: BSD-3-Clause
/* Error classes and codes that a program adds: its own texts, a million of them, none left over. */
#include "check.h"

enum { many = 1000000 };

#define OK(call) CHECK((call) == MPI_SUCCESS)

static int last_code(void) {
  int* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
  CHECK(flag);
  return *value;
}

static void expect_text(int code, const char* wanted) {
  char text[MPI_MAX_ERROR_STRING];
  int length = -1;
  OK(MPI_Error_string(code, text, &length));
  CHECK(strcmp(text, wanted) == 0 && length == (int)strlen(wanted));
}

/* Also after an error of that code: nothing is added to the program's words. */
static void own_texts(void) {
  int own_class = 0, own_code = 0, of = 0;
  OK(MPI_Add_error_class(&own_class));
  OK(MPI_Add_error_code(own_class, &own_code));
  expect_text(own_code, "");
  OK(MPI_Add_error_string(own_class, "the pump is dry"));
  OK(MPI_Add_error_string(own_code, "pump 7 is dry"));
  OK(MPI_Error_class(own_code, &of));
  CHECK(of == own_class);
  CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, own_code) == MPI_SUCCESS);
  expect_text(own_code, "pump 7 is dry");
  CHECK(MPI_Comm_call_errhandler(MPI_COMM_SELF, own_class) == MPI_SUCCESS);
  expect_text(own_class, "the pump is dry");
  EXPECT_ERROR(MPI_Remove_error_class(own_class), MPI_ERR_OTHER, "still has codes");
  EXPECT_ERROR(MPI_Remove_error_code(own_code), MPI_ERR_OTHER, "still has a text");
  OK(MPI_Remove_error_string(own_code));
  OK(MPI_Remove_error_string(own_class));
  OK(MPI_Remove_error_code(own_code));
  OK(MPI_Remove_error_class(own_class));
  EXPECT_ERROR(MPI_Remove_error_class(own_class), MPI_ERR_OTHER, "no error class");
  CHECK(last_code() == MPI_ERR_LASTCODE);
}

static int class_of[many], code_of[many];

static void a_million(void) {
  for (int i = 0; i < many; ++i) OK(MPI_Add_error_class(&class_of[i]));
  for (int i = 0; i < many; ++i) OK(MPI_Add_error_code(class_of[i % 7], &code_of[i]));
  CHECK(last_code() == MPI_ERR_LASTCODE + 2 * many);
  for (int i = 0; i < many; i += 1001) {
    int of = 0;
    OK(MPI_Error_class(code_of[i], &of));
    CHECK(of == class_of[i % 7]);
  }
  for (int i = 0; i < many; ++i) OK(MPI_Remove_error_code(code_of[i]));
  for (int i = 0; i < many; ++i) OK(MPI_Remove_error_class(class_of[i]));
  CHECK(last_code() == MPI_ERR_LASTCODE);
}

/* Numbers come back into use, so that a library that adds and removes does not run out of them. */
static void again_and_again(void) {
  int kept = 0, one = 0, next = 0, highest = 0;
  OK(MPI_Add_error_class(&one));
  OK(MPI_Add_error_class(&kept));
  for (int i = 0; i < many; ++i) {
    OK(MPI_Add_error_class(&next));
    OK(MPI_Remove_error_class(one));
    one = next;
    highest = next > highest ? next : highest;
  }
  CHECK(highest < MPI_ERR_LASTCODE + 16);
  OK(MPI_Remove_error_class(one));
  OK(MPI_Remove_error_class(kept));
  CHECK(last_code() == MPI_ERR_LASTCODE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  own_texts();
  a_million();
  again_and_again();
  MPI_Finalize();
  return 0;
}
