import { createSandbox } from '../../src/sandbox/sandbox-server.ts'
import { ask, KEY, ORDERS, PIPES, TOKEN } from './given.ts'

/*
 * Started by home.test.ts as a process of its own: opens the file that is its first argument, creates as many
 * pipes as its second says, and prints their ids and how many requests the file then shows.
 */
const [file, count] = process.argv.slice(2)
await using sandbox = await createSandbox({ file, credentials: [KEY], alertTokens: [TOKEN] })
const ids: string[] = []
for (let n = 0; n < Number(count); n += 1) {
  // one after the other: the point is to alternate with the other process
  ids.push((await ask(sandbox, PIPES, { body: { ...ORDERS, name: `theirs-${n}` } })).body.result.id)
}
process.stdout.write(JSON.stringify({ ids, requests: sandbox.requests().length }))
