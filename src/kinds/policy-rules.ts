import { fault, type RuleFinding } from './finding.ts'
import { keyOf, kindOf, nameOf, parseKey, type Key } from './key.ts'
import type { ResourceManifest, Policy } from './manifest.ts'

/** The rules that hold for the policy of every kind. */
export function commonPolicyRules(manifest: ResourceManifest): readonly RuleFinding[] {
  const self = keyOf(manifest.kind, manifest.metadata.name)
  const dependsOn = manifest.policy?.dependsOn ?? []
  return dependsOn.flatMap((key, index) =>
    key === self
      ? [
          fault('depends-on-itself', {
            path: ['policy', 'dependsOn', index],
            message: `${self} depends on itself, and so would never be created.`,
            hint: 'Remove this entry.',
          }),
        ]
      : [],
  )
}

/** Pairs of fields of which only one can be meant, and why. */
const CONTRADICTIONS = [
  [
    'adopt',
    'retryCreate',
    '`adopt` takes over a pipe that exists, `retryCreate` says that none was created',
    'Keep `adopt` when the pipe exists, or `retryCreate` when it does not.',
  ],
  [
    'adopt',
    'replaces',
    '`adopt` takes over a pipe that exists, `replaces` asks for a new one',
    'Keep `adopt` to take over the pipe, or `replaces` to create a new one.',
  ],
  [
    'adopt',
    'recreate',
    '`adopt` takes over a pipe that exists, `recreate` asks for a new one',
    'Keep `adopt` to take over the pipe, or `recreate` to create a new one.',
  ],
  [
    'renamedFrom',
    'replaces',
    '`renamedFrom` says that it is the same pipe, `replaces` that it is a new one',
    'Keep `renamedFrom` to keep the pipe, or `replaces` to create a new one.',
  ],
] as const

/** The rules for what only the policy of something created once has. */
export function createOncePolicyRules({ kind, metadata, policy }: ResourceManifest): readonly RuleFinding[] {
  if (policy === undefined) return []
  return [...contradictions(policy), ...targets(keyOf(kind, metadata.name), policy)]
}

function contradictions(policy: Policy): readonly RuleFinding[] {
  return CONTRADICTIONS.filter(
    ([first, second]) => policy[first] !== undefined && policy[second] !== undefined,
  ).map(([first, second, why, hint]) =>
    fault('policy-contradiction', {
      path: ['policy', second],
      message: `\`${first}\` and \`${second}\` exclude each other: ${why}.`,
      hint,
    }),
  )
}

function targets(self: Key, policy: Policy): readonly RuleFinding[] {
  return (['renamedFrom', 'replaces'] as const).flatMap((field) => {
    const text = policy[field]
    const target = text === undefined ? undefined : parseKey(text)
    if (target === undefined) return []
    const kind = kindOf(self)
    if (kindOf(target) !== kind) {
      return [
        fault('policy-target-invalid', {
          path: ['policy', field],
          message: `\`${field}\` must name a ${kind}, and ${target} is none.`,
          hint: `Write the key under which it was recorded, such as "${keyOf(kind, nameOf(target))}".`,
        }),
      ]
    }
    if (target !== self) return []
    return [
      fault('policy-target-invalid', {
        path: ['policy', field],
        message: `\`${field}\` must name another ${kind}, and ${self} is this one.`,
        hint: `Write the key under which it was recorded before, or remove \`${field}\`.`,
      }),
    ]
  })
}
