import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { signedHeaders } from '../../src/notify/webhook.ts'
import { Secret } from '../../src/lib/secret.ts'

/* The Python example of docs/notifications.md, run by Python. */

const PAGE = readFileSync(new URL('../../docs/notifications.md', import.meta.url), 'utf8')

test.each(['a plain key', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])('verifies with %s', (key) => {
  const code = /```python\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? ''
  const body = '{"sentence":"Grüße"}'
  const signed = signedHeaders({ id: 'm-1', body }, new Secret(key), Date.now())
  const old = signedHeaders({ id: 'm-1', body }, new Secret(key), Date.now() - 400_000)
  const cases = [
    [signed, body],
    [signed, `${body} `],
    [{ ...signed, 'webhook-id': 'm-2' }, body],
    [old, body],
  ]
  const program = `${code}
import json, sys
key, cases = json.load(sys.stdin)
print(json.dumps([is_from_pipewright(key, headers, body.encode()) for headers, body in cases]))
`
  const run = spawnSync('python3', ['-c', program], { input: JSON.stringify([key, cases]), encoding: 'utf8' })
  if (run.error !== undefined)
    throw new Error('this test needs python3: apt-get install python3', { cause: run.error })
  expect(run.stderr).toBe('')
  expect(JSON.parse(run.stdout)).toEqual([true, false, false, false])
})
