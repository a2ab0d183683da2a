# Writes FILE, which has the content of STYLE and of all SCRIPTS as texts (src/page/assets.h).
file(READ "${STYLE}" style)
set(script "")
foreach(each IN LISTS SCRIPTS)
  file(READ "${each}" content)
  string(APPEND script "${content}\n")
endforeach()
file(WRITE "${FILE}" "#include \"page/assets.h\"

namespace pipedream::page {

const char* const kStyle = R\"web(${style})web\";
const char* const kScript = R\"web(${script})web\";

}  // namespace pipedream::page
")
