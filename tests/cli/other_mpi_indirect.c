int other_mpi_user_answer(void);
int main(void) { return other_mpi_user_answer(); }
