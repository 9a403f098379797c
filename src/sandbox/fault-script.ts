import { sha256 } from '../lib/digest.ts'
import { type Fault, FaultMix, type FaultMixInput, FaultRule, type FaultRuleInput } from './fault-schema.ts'
import type { Operation } from './request-schema.ts'

/** The script applies before chance. */
export interface Faults {
  /** Appends to the script. @throws ZodError */
  add(...rules: readonly FaultRuleInput[]): void
  /** Adds rules before the script. @returns function that removes the rules @throws ZodError */
  impose(...rules: readonly FaultRuleInput[]): () => void
  /** Undefined: no random faults. @throws ZodError */
  mix(mix: FaultMixInput | undefined): void
  clear(): void
}

export interface Target {
  readonly operation: Operation
  /** Main name first, such as id and name of a pipe. */
  readonly subjects: readonly string[]
}

export interface FaultPicker extends Faults {
  /** Counts the request. */
  pick(target: Target): Fault | undefined
}

interface RuleInUse {
  readonly rule: FaultRule
  seen: number
  used: number
}

export function createFaults(): FaultPicker {
  let script: RuleInUse[] = []
  let imposed: RuleInUse[] = []
  let chance: FaultMix | undefined
  let counts = new Map<string, number>()

  return {
    add(...rules) {
      script.push(...rules.map(inUse))
    },
    impose(...rules) {
      const lines = rules.map(inUse)
      imposed.push(...lines)
      return () => {
        imposed = imposed.filter((line) => !lines.includes(line))
      }
    },
    mix(mix) {
      chance = mix === undefined ? undefined : FaultMix.parse(mix)
      counts = new Map()
    },
    clear() {
      script = []
      imposed = []
      chance = undefined
      counts = new Map()
    },
    pick(target) {
      const line = imposed.find((rule) => takes(rule, target)) ?? script.find((rule) => takes(rule, target))
      return line?.rule.fault ?? draw(target)
    },
  }

  function draw(target: Target): Fault | undefined {
    if (chance === undefined) return undefined
    const counter = `${target.operation} ${target.subjects[0] ?? ''}`
    const nth = (counts.get(counter) ?? 0) + 1
    counts.set(counter, nth)
    let rest = chanceOf(`${chance.seed} ${counter} ${nth}`)
    for (const { probability, fault } of chance.faults) {
      if (rest < probability) return fault
      rest -= probability
    }
    return undefined
  }
}

function inUse(rule: FaultRuleInput): RuleInUse {
  return { rule: FaultRule.parse(rule), seen: 0, used: 0 }
}

function takes(line: RuleInUse, target: Target): boolean {
  const { operation, subject, nth, times } = line.rule
  if (operation !== undefined && operation !== target.operation) return false
  if (subject !== undefined && !target.subjects.includes(subject)) return false
  if (times !== 'always' && line.used >= times) return false
  line.seen += 1
  if (line.seen < nth) return false
  line.used += 1
  return true
}

/** From 0 up to 1. */
function chanceOf(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 12), 16) / 2 ** 48
}
