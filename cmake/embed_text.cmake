# cmake -DOUT=FILE.cc -DHEADER=folder/name.h "-DPARTS=kName=file;kOther=file,file" -P embed_text.cmake
#
# Writes a C++ source that defines each constant of HEADER as the text of its files, one after the other.
set(code "#include \"${HEADER}\"\n\nnamespace lengthwise {\n")
foreach(part IN LISTS PARTS)
  string(REGEX MATCH "^([A-Za-z]+)=(.*)$" matched "${part}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "," ";" files "${CMAKE_MATCH_2}")
  string(APPEND code "\nconst std::string_view ${name} =")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(APPEND code "\n    R\"embedded(${text})embedded\"")
  endforeach()
  string(APPEND code ";\n")
endforeach()
string(APPEND code "\n}  // namespace lengthwise\n")
file(WRITE "${OUT}" "${code}")
