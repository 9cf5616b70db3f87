# Creates a user of Windows and runs a command as this user, in the current folder: testAsUser.ps1 <user> <program> <arguments>
param([string] $user, [string] $program, [Parameter(ValueFromRemainingArguments)] [string[]] $arguments)
$ErrorActionPreference = 'Stop'
$password = ConvertTo-SecureString "Aa1!$(New-Guid)" -AsPlainText -Force
New-LocalUser -Name $user -Password $password | Out-Null
Add-LocalGroupMember -Group Users -Member $user
icacls . /grant "${user}:(OI)(CI)M" /T /Q | Out-Null

# Without these variables, the program would use the folders of the user that started it.
$home_ = "$env:SystemDrive\Users\$user"
$environment = @{
  USERPROFILE = $home_
  APPDATA = "$home_\AppData\Roaming"
  LOCALAPPDATA = "$home_\AppData\Local"
  TEMP = "$home_\AppData\Local\Temp"
  TMP = "$home_\AppData\Local\Temp"
}
$started = @{
  FilePath = (Get-Command $program).Source
  ArgumentList = $arguments
  Credential = [pscredential]::new($user, $password)
  LoadUserProfile = $true
  Environment = $environment
  WorkingDirectory = (Get-Location).Path
  RedirectStandardOutput = 'output.log'
  RedirectStandardError = 'errors.log'
  Wait = $true
  PassThru = $true
}
$process = Start-Process @started
Get-Content output.log, errors.log
exit $process.ExitCode
