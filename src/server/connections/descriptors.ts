import { readFileSync } from 'node:fs'

/** Where it cannot be read: what most systems give a process. */
const USUAL = 1_024

/** How many descriptors this process may have, files and connections together. Node raises it to the hard limit as it starts. */
export function descriptorLimit(): number {
  try {
    return parseLimit(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return USUAL // not Linux
  }
}

/** @param limits of proc(5) */
export function parseLimit(limits: string): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (soft === undefined) return USUAL
  return soft === 'unlimited' ? Infinity : Number(soft)
}

/** How many connections a listener has at once, and how many of them one address. */
export interface ConnectionLimits {
  readonly all: number
  readonly eachAddress: number
}

const MOST_FOR_PEOPLE = 512

const MOST_FOR_MACHINES = 64

/**
 * At most half of the descriptors are for the page and the API, and a sixteenth for probes and metrics: the rest stays for the ledger,
 * manifests, secrets and the platform. One address has at most half of a listener's, because a proxy comes with all of its people
 * from one, and must not be taken for a flood.
 */
export function connectionLimits(descriptors: number): {
  readonly main: ConnectionLimits
  readonly metrics: ConnectionLimits
} {
  return {
    main: limitsOf(Math.min(MOST_FOR_PEOPLE, Math.floor(descriptors / 2))),
    metrics: limitsOf(Math.min(MOST_FOR_MACHINES, Math.floor(descriptors / 16))),
  }
}

/** With very few descriptors there is still a place for a probe, and one beside it. */
function limitsOf(most: number): ConnectionLimits {
  const all = Math.max(2, most)
  return { all, eachAddress: Math.ceil(all / 2) }
}
