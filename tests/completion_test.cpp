// What shells and man get from the program.
#include "command_line_testing.h"

namespace pipedream {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What bash offers when the last of these words is being typed.
std::string offered(const std::string& words) {
  const std::string script = scratch("completion.bash").string();
  if (!is_there(script)) write_file_atomically(script, call("completion bash").out);
  const std::string command = "bash -c 'source " + script + "; COMP_WORDS=(" + words +
                              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _pipedream; "
                              "echo \"${COMPREPLY[*]}\"' >" +
                              scratch("offered").string();
  EXPECT_EQ(std::system(command.c_str()), 0) << words;
  return read_file(scratch("offered"));
}

TEST(Completion, OfBashOffersCommandsFlagsAndValues) {
  EXPECT_EQ(offered("pipedream tra"), "train\n");
  EXPECT_EQ(offered("pipedream cluster pro"), "probe\n");
  EXPECT_EQ(offered("pipedream train --learning-rate-d"), "--learning-rate-decay\n");
  EXPECT_EQ(offered("pipedream train --batch 3 --lr-d"), "--lr-decay\n");
  EXPECT_EQ(offered("pipedream train --system pi"), "pipedream\n");
  EXPECT_EQ(offered("pipedream plan --prefer ex"), "exact\n");
  EXPECT_EQ(offered("pipedream plan --minibat"), "\n") << "plan has no such flag";
  EXPECT_TRUE(has(offered("pipedream \"\""), "simulate"));
}

// Bash hands "--system=pi" and "idx:folder" over as three words.
TEST(Completion, OfBashGoesOnAfterEqualsAndColons) {
  EXPECT_EQ(offered("pipedream train --system = pi"), "pipedream\n");
  EXPECT_TRUE(has(offered("pipedream train --system ="), "gpipe"));
  const std::string file = write("numbers.u32", "");
  EXPECT_EQ(offered("pipedream train --data tokens : " + file.substr(0, file.size() - 2)),
            file + "\n");
}

TEST(Completion, OfAllShellsKnowsTheFlagsOfSubcommands) {
  EXPECT_TRUE(has(offered("pipedream cluster probe --sec"), "--seconds"));
  EXPECT_TRUE(has(call("completion zsh").out, "probe) shift words; ((CURRENT--)); _arguments"));
  EXPECT_TRUE(
      has(call("completion fish").out,
          "-n '__fish_seen_subcommand_from cluster; and __fish_seen_subcommand_from probe'"));
}

TEST(Completion, HasAllCommandsForEveryShell) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = call("completion " + shell).out;
    for (const std::string command : {"train", "report", "checkpoint"})
      EXPECT_TRUE(has(script, command)) << shell;
    EXPECT_TRUE(has(script, "target-accuracy")) << shell;
  }
  expect_all({{"completion tcsh", 2, "there is no completion for 'tcsh'"}});
}

// A script that a shell cannot read would be of no use. Shells that are not there are left out.
TEST(Completion, ShellsCanReadIt) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) continue;
    const std::string file = write("read." + shell, call("completion " + shell).out);
    EXPECT_EQ(std::system((shell + " -n " + file).c_str()), 0) << shell;
  }
}

TEST(ManPages, AreOfTheProgramAndOfItsCommands) {
  const std::string program = call("man").out;
  EXPECT_TRUE(program.starts_with(".TH \"pipedream\" 1")) << program;
  EXPECT_TRUE(has(program, ".B train\n"));
  const std::string train = call("man train").out;
  EXPECT_TRUE(has(train, ".SH NAME\npipedream\\-train \\- Train a network"));
  EXPECT_TRUE(has(train, ".B \\-\\-learning\\-rate, \\-\\-lr VALUE\n"));
  EXPECT_TRUE(has(call("man cluster probe").out, "pipedream\\-cluster\\-probe"));
  expect_all({{"man trai", 2, "there is no command 'trai' (did you mean 'train'?)"}});
}

}  // namespace
}  // namespace pipedream
