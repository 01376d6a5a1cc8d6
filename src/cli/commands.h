#pragma once
/// The commands of the program. Each is one file here and one line in app.cc.
///
/// A command adds its sub-command and options to the app and hangs its work on `callback`, which runs once the whole
/// command line has been accepted. Mistakes are UserErrors; results go to standard output.
#include <CLI/App.hpp>

namespace lengthwise {

/// Thrown by a command that has said all there is to say and ends with another exit status than 0.
struct Exit {
  int status = 1;
};

void add_tasks_command(CLI::App& app);      ///< tasks.cc: list, show and solve the tasks
void add_data_command(CLI::App& app);       ///< data.cc: make and inspect data sets
void add_text_command(CLI::App& app);       ///< text.cc: make text ready to train on
void add_encodings_command(CLI::App& app);  ///< encodings.cc: list the positional encodings
void add_train_command(CLI::App& app);      ///< train.cc: train one model
void add_eval_command(CLI::App& app);       ///< eval.cc: accuracy of a run by length
void add_generate_command(CLI::App& app);   ///< generate.cc: let a run answer a prompt
void add_study_command(CLI::App& app);      ///< study.cc: carry out a whole study
void add_merge_command(CLI::App& app);      ///< merge.cc: lay pieces of a study together
void add_compare_command(CLI::App& app);    ///< compare.cc: rank the encodings of a folder or of a CSV file
void add_report_command(CLI::App& app);     ///< report.cc: write report.html
void add_ledger_command(CLI::App& app);     ///< ledger.cc: results of runs as small files, the paper's table of them
void add_theory_command(CLI::App& app);     ///< theory.cc: constructed weights and their errors
void add_waveform_command(CLI::App& app);   ///< waveform.cc: recurrent networks learn waveforms
void add_analysis_commands(CLI::App& app);  ///< analyses.cc: one for each analysis of trained runs
void add_doctor_command(CLI::App& app);     ///< doctor.cc: this build and this machine

}  // namespace lengthwise
