import { parseArgs } from 'node:util'
import { explore } from './explore.ts'
import { storyAsText } from './story.ts'
import { WORLDS } from './worlds.ts'

/*
 * `npm run explore -- [--minutes N] [--depth N] [--world NAME]`: tells all stories of small worlds, up to a number of faults, and
 * ends with 1 when a law is broken in one of them. With `--minutes`, ever more faults until the time is over.
 */

// Errors are answers here, and made by the million.
Error.stackTraceLimit = 0

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    depth: { type: 'string' },
    world: { type: 'string', multiple: true },
    keys: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

const worlds = WORLDS.filter(({ name, begin }) => {
  const isNamed = values.world === undefined || values.world.includes(name)
  return isNamed && (values.keys === undefined || begin().wishes.length === Number(values.keys))
})
if (worlds.length === 0)
  throw new Error(`there is no such world; there are ${WORLDS.map(({ name }) => name).join(', ')}`)
const until = values.minutes === undefined ? Infinity : performance.now() + Number(values.minutes) * 60_000
const say = (text: string) => process.stdout.write(`${text}\n`)

if (!values.json) say('world      depth  situations       steps  seconds  steps/s')
for (const world of worlds) {
  const depth = values.depth === undefined ? world.depth : Number(values.depth)
  const explored = await explore(world, { depth, until })
  const { situations, plays, seconds, story, stopped } = explored
  if (values.json) say(JSON.stringify({ ...explored, told: story && (await storyAsText(world, story)) }))
  else {
    const rate = Math.round(plays / seconds)
    const numbers = [
      String(explored.depth).padStart(5),
      String(situations).padStart(11),
      String(plays).padStart(11),
      seconds.toFixed(1).padStart(8),
      String(rate).padStart(8),
    ]
    say(`${world.name.padEnd(10)} ${numbers.join(' ')}${stopped === undefined ? '' : `  (${stopped})`}`)
    if (story !== undefined)
      say(
        `\nA law is broken in the world "${world.name}", ${world.about}:\n${await storyAsText(world, story)}\n`,
      )
  }
  if (story !== undefined) process.exitCode = 1
}
