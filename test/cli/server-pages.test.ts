import { expect, test } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { fakeParts, NOW, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { conditionEntry } from '../support/events.ts'
import { runHere } from '../support/command.ts'

/** A daemon answers in pages; a command shows all of it. */

const KEYS = Array.from({ length: 1_200 }, (_, index) => `Pipe/p${1_000 + index}` as const)

const HISTORY = KEYS.map((key, index) => conditionEntry({ key, at: NOW - index }))

const RESOURCES = KEYS.map((key) => resource(key))

interface Item {
  readonly key: string
  readonly at?: number
}

async function itemsOf(args: readonly string[]): Promise<readonly Item[]> {
  const { code, stdout, stderr } = await runHere([...args, '-o', 'json'])
  expect([code, stderr]).toEqual([0, ''])
  const said = JSON.parse(stdout) as unknown
  const items = Array.isArray(said) ? said : (said as { readonly resources: unknown }).resources // by the command
  return items as readonly Item[]
}

async function keysOf(args: readonly string[]): Promise<readonly string[]> {
  return (await itemsOf(args)).map(({ key }) => key)
}

test('status shows all resources of a daemon', async () => {
  const { url } = await running(fakeParts({}, RESOURCES))
  expect(await keysOf(['status', '--server', url])).toEqual(KEYS)
})

test('history shows as many lines of a daemon as are asked for, each of them once while others come', async () => {
  let asked = 0
  const history = async ({ limit }: { readonly limit: number }) => {
    asked += 1
    const newer = KEYS.slice(0, asked * 7).map((key, index) => ({
      ...HISTORY[0],
      key,
      at: NOW + 10_000 - index,
    }))
    return [...newer.map((entry) => entry as HistoryEntry), ...HISTORY].slice(0, limit) // of the first
  }
  const { url } = await running(fakeParts({ history }, RESOURCES))
  const items = await itemsOf(['history', '--server', url, '--limit', '1100'])
  expect(asked).toBeGreaterThan(2)
  expect(new Set(items.map(({ key, at }) => `${key} ${at}`)).size).toBe(1_100)
  const alone = await running(fakeParts({}, RESOURCES, HISTORY))
  expect(await keysOf(['history', '--server', alone.url, '--limit', '1100'])).toEqual(KEYS.slice(0, 1_100))
  const { stdout } = await runHere(['history', '--server', alone.url, '--limit', '2'])
  expect(stdout).toMatch(/\n\nShown: the newest 2\. For older entries, add --limit N\.\n$/)
})
