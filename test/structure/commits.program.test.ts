import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'

/** The last commit before this rule. */
const SINCE = '83be0c92'

/** `area: Imperative`; an area is a folder, or two. */
const SUBJECT = /^[a-z][a-z0-9./ -]*(, [a-z][a-z0-9./ -]*)?: [A-Z]/
const LONGEST = 60

test('each commit names its area, and says in 60 characters what it does', () => {
  const log = execFileSync('git', ['log', '--no-merges', '--format=%s', `${SINCE}..HEAD`], { cwd: ROOT })
  const subjects = log.toString().trimEnd().split('\n')
  expect(subjects.filter((subject) => subject.length > LONGEST || !SUBJECT.test(subject))).toEqual([])
})
