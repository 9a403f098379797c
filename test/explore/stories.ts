import { expect } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { createChooser, type Option } from './chooser.ts'
import { shortId, type Model } from './model.ts'
import { playStep } from './play.ts'
import { settledModel } from './settled.ts'
import { stepsOf } from './steps.ts'
import { LARGE_WORLDS, WORLDS, type World } from './worlds.ts'

export interface Ending {
  /** Creates that went out after the world began. */
  readonly sent?: number
  /** Pipes of the platform, each with its name and its number. */
  readonly pipes?: readonly string[]
  /** The number of the pipe in each record that has one. */
  readonly holds?: Readonly<Record<Key, string>>
  /** The reason that the last look at a key gave. */
  readonly says?: Readonly<Record<Key, string>>
}

/** A world of the explorer, with other waits, faults, edits or replies. */
export function worldOf(name: string, changes: Partial<World> = {}): World {
  const found = [...WORLDS, ...LARGE_WORLDS].find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no world ${name}`)
  return { ...found, ...changes }
}

/**
 * Plays the steps of a text, which are separated by `;`, and judges each by all laws of the explorer. `step => choice => choice`
 * takes these choices in this order, and the first option of all others.
 */
export async function story(world: World, text: string, ending: Ending): Promise<void> {
  let model = await settledModel(world)
  const lines: string[] = []
  for (const sentence of text.split(';')) {
    const [name = '', ...wanted] = sentence.split('=>').map((part) => part.trim())
    const steps = stepsOf(model, world)
    const step = steps.find((each) => each.name === name)
    if (step === undefined)
      throw new Error(`"${name}" cannot happen here: ${namesOf(steps)}\n${lines.join('\n')}`)
    const asked: string[] = []
    const played = await playStep(
      model,
      world,
      step,
      createChooser([], (options) => pick(options, wanted, asked)),
    )
    lines.push(...played.lines)
    expect(played.broken, lines.join('\n')).toEqual([])
    if (wanted.length > 0) throw new Error(`"${wanted.join(', ')}" was never asked for: ${asked.join('; ')}`)
    model = played.model
  }
  expect(endingOf(model, lines, ending), lines.join('\n')).toEqual(ending)
}

function pick(options: readonly Option[], wanted: string[], asked: string[]): number {
  asked.push(namesOf(options))
  const place = options.findIndex(({ name }) => name === wanted[0])
  if (place !== -1) wanted.shift()
  return Math.max(0, place)
}

function namesOf(all: readonly { readonly name: string }[]): string {
  return all.map(({ name }) => name).join(', ')
}

/** @param expected names the parts that count */
function endingOf(
  { pipes, records }: Model,
  lines: readonly string[],
  expected: Ending,
): Partial<Record<keyof Ending, unknown>> {
  const held = [...records.values()].flatMap(({ key, remote }) => (remote ? [[key, shortId(remote.id)]] : []))
  return {
    ...(expected.sent !== undefined && { sent: lines.filter((line) => line.includes('It POSTs')).length }),
    ...(expected.pipes && { pipes: pipes.map(({ name, id }) => `${name} ${shortId(id)}`) }),
    ...(expected.holds && { holds: Object.fromEntries(held) }),
    ...(expected.says && { says: saidOf(lines, Object.keys(expected.says)) }),
  }
}

/** The last reason that was given for each key. */
function saidOf(lines: readonly string[], keys: readonly string[]): Record<string, string | undefined> {
  const said = lines.flatMap((line) => {
    const [, reason, key] = /It says (\w+) of (\S+) /.exec(line) ?? []
    return key === undefined ? [] : [[key, reason] as const]
  })
  return Object.fromEntries(keys.map((key) => [key, new Map(said).get(key)]))
}
