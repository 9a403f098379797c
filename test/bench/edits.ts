import { pipeText } from './manifest-texts.ts'
import type { Tree } from './tree.ts'

export interface Edit {
  readonly pipe: number
  readonly path: string
  readonly text: string
}

/**
 * Edits of one file each, spread over the directory: the number of replicas of a pipe.
 * @param round another one for each use, so that every edit is one
 */
export function editsOf({ single, services }: Tree, count: number, round: number): readonly Edit[] {
  const step = Math.max(1, Math.floor(single.length / count))
  return Array.from({ length: count }, (_, n) => {
    const { pipe, path } = single[(n * step + round) % single.length] ?? { pipe: 0, path: '' }
    return { pipe, path, text: pipeText(pipe, services, 10 + round * 100 + n) }
  })
}
