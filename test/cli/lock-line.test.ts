import { expect, test } from 'vitest'
import { statusText } from '../../src/cli/render/status-text.ts'

test.each([
  [0, []],
  [1, ['The id of 1 pipe is in no Lock: run "pipewright lock", and commit what it writes.']],
  [7, ['The ids of 7 pipes are in no Lock: run "pipewright lock", and commit what it writes.']],
])('with %i pipes that are in no Lock, status says so in a line', (withoutLock, lines) => {
  const here = { sandbox: false, ledger: undefined, manifests: undefined, baseUrl: undefined }
  const text = statusText(
    { now: 0, daemon: { state: 'never', last: undefined }, whole: { withoutLock }, here, resources: [] },
    { now: 0, paint: (_style, said) => said, width: undefined, form: 'text', here, nothing: 'Nothing.' },
  )
  expect(text.split('\n').slice(1)).toEqual([...lines, '', 'Nothing.'])
})
