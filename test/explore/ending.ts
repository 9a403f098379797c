import { isUnended, judgeEnd } from './change-laws.ts'
import { digestOf } from './digest.ts'
import { passTime } from './hiding.ts'
import { copyOf, keysOf, MINUTE, type Model } from './model.ts'
import { createChooser } from './chooser.ts'
import { look } from './look.ts'
import { playStep } from './play.ts'
import type { World } from './worlds.ts'

/** Longer than what was sent in vain is not sent again. */
const PASS_MS = 61 * MINUTE
/** It stops, is changed and is started again, and each of that may have failed just before. */
const PASSES = 6

/**
 * Nothing fails and nobody edits any more. @returns the laws that are broken in the end
 * @param endsWell the digests of earlier calls that broke none, each with its pass
 */
export async function brokenInTheEnd(
  from: Model,
  world: World,
  endsWell: Set<string>,
): Promise<readonly string[]> {
  if (world.profile === undefined || !isUnended(from)) return []
  const calm: World = {
    ...world,
    meanwhile: 0,
    crashes: false,
    standsStill: false,
    faults: [],
    replies: [],
    changeReplies: [],
    removeReplies: [],
  }
  let model = copyOf(from)
  Object.assign(model, { isPermitted: true, isIdle: false, isDiskFull: false, isDiskGone: false })
  for (const pipe of model.pipes) pipe.view = 'seen'
  const passes: string[] = []
  for (let pass = 0; pass < PASSES; pass += 1) {
    const digest = `${pass} ${digestOf(model, world)}`
    if (endsWell.has(digest)) return well()
    passes.push(digest)
    // Once right away, and then after a while.
    if (pass > 0) passTime(model, pass % 2 === 0 ? PASS_MS : MINUTE)
    for (const key of keysOf(model)) {
      const played = await playStep(model, calm, look(key), createChooser([]))
      if (played.broken.length > 0) return played.broken
      model = played.model
    }
    if (!isUnended(model)) return well()
  }
  const broken = judgeEnd(model)
  return broken.length > 0 ? broken : well()

  function well(): readonly string[] {
    for (const digest of passes) endsWell.add(digest)
    return []
  }
}
