// Takes the place of Wine's PowerShell, which does nothing, for the only question that the service asks it: when a process started.
// Without the answer, a killed service's servers aren't recognized.
//   powershell -NoProfile -Command "(Get-Process -Id 123).StartTime.ToString('o')"
#include <stdio.h>
#include <string.h>
#include <windows.h>

int main(int count, char **arguments) {
  unsigned long pid;
  const char *id = strstr(arguments[count - 1], "(Get-Process -Id ");
  if (id == NULL || sscanf(id, "(Get-Process -Id %lu).StartTime", &pid) != 1) return 1;
  HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid);
  DWORD code;
  FILETIME start, end, kernel, user;
  SYSTEMTIME time;
  if (process == NULL || !GetExitCodeProcess(process, &code) || code != STILL_ACTIVE) return 1;
  if (!GetProcessTimes(process, &start, &end, &kernel, &user) || !FileTimeToSystemTime(&start, &time)) return 1;
  printf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\n", time.wYear, time.wMonth, time.wDay, time.wHour, time.wMinute,
         time.wSecond, time.wMilliseconds);
  return 0;
}
