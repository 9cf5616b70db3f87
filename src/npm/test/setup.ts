/**
 * `hosted-postgres/test/setup`: a setup file for runners. A test that forgets `branch()` fails with this name, also if the
 * program then reads `.env`, which doesn't replace a variable that is set.
 */
process.env['DATABASE_URL'] = 'postgresql://call-branch-first.invalid/none';
