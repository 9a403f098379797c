import { parseArgs } from 'node:util'
import { explore, type Explored } from './explore.ts'
import { MOUNTED } from '../support/mounted-secrets.ts'
import { compareWith } from './metamorphic.ts'
import { storyAsText } from './story.ts'
import { WORLDS, type World } from './worlds.ts'

/*
 * `npm run explore -- [--world NAME] [--without NAME] [--keys N] [--depth N] [--minutes N]`: tells all stories of small worlds, up to a number of
 * faults, edits and words in one, and ends with 1 when a law is broken in one of them, or when the memory is full before all are told.
 * With `--secrets` each world is explored again with mounted secrets that are texts of its replies, and has to be the same.
 * With `--minutes` there are ever more of them, until the time is over.
 */

// Errors are answers here, and made by the million.
Error.stackTraceLimit = 0

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    depth: { type: 'string' },
    world: { type: 'string', multiple: true },
    without: { type: 'string', multiple: true, default: [] },
    keys: { type: 'string' },
    json: { type: 'boolean', default: false },
    secrets: { type: 'boolean', default: false },
  },
})

const worlds = WORLDS.filter(({ name, begin }) => {
  const isNamed = values.world?.includes(name) ?? !values.without.includes(name)
  return isNamed && (values.keys === undefined || begin().wishes.length === Number(values.keys))
})
if (worlds.length === 0)
  throw new Error(`there is no such world; there are ${WORLDS.map(({ name }) => name).join(', ')}`)
const isEndless = values.minutes !== undefined && values.depth === undefined
const until = values.minutes === undefined ? Infinity : performance.now() + Number(values.minutes) * 60_000

const WHY = { law: 'a law is broken', time: 'the time is over', memory: 'the memory is full' } as const

if (!values.json) say('world      depth  situations       steps  seconds  steps/s')
let left: readonly World[] = values.secrets ? [] : worlds
if (values.secrets) await compareAll()
for (let more = 0; left.length > 0; more += 1) {
  const next: World[] = []
  for (const world of left) {
    const depth = (values.depth === undefined ? world.depth : Number(values.depth)) + more
    const explored = await explore(world, { depth, until })
    await show(world, explored)
    if (explored.stopped === undefined) next.push(world)
    if (explored.story !== undefined || (explored.stopped === 'memory' && !isEndless)) process.exitCode = 1
  }
  left = isEndless ? next : []
}

/** With `--secrets`: explores each world again for each sort of mounted secrets. */
async function compareAll(): Promise<void> {
  for (const world of worlds) {
    const depth = values.depth === undefined ? Number(world.isLarge !== true) : Number(values.depth)
    const { compared, difference } = await compareWith(world, MOUNTED, depth)
    say(
      `${world.name.padEnd(10)} ${String(depth).padStart(5)} ${String(compared).padStart(11)}  with secrets`,
    )
    if (difference === undefined) continue
    say(`\nSecrets change what happens in the world "${world.name}":\n${difference}\n`)
    process.exitCode = 1
  }
}

async function show(world: World, explored: Explored): Promise<void> {
  const { depth, situations, plays, seconds, story, stopped } = explored
  const told = story && (await storyAsText(world, story))
  if (values.json) return say(JSON.stringify({ ...explored, told }))
  const numbers = [
    String(depth).padStart(5),
    String(situations).padStart(11),
    String(plays).padStart(11),
    seconds.toFixed(1).padStart(8),
    String(Math.round(plays / seconds)).padStart(8),
  ]
  say(`${world.name.padEnd(10)} ${numbers.join(' ')}${stopped === undefined ? '' : `  (${WHY[stopped]})`}`)
  if (told !== undefined) say(`\nA law is broken in the world "${world.name}", ${world.about}:\n${told}\n`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
