import { ruleError, type FieldFinding } from './finding.ts'
import { anyOf, kindNamed } from './lookup.ts'
import { keyOf, kindOf, nameOf, parseKey, type Key } from './key.ts'
import type { ResourceManifest, Policy } from './manifest.ts'

export function commonPolicyRules(manifest: ResourceManifest): readonly FieldFinding[] {
  const self = keyOf(manifest.kind, manifest.metadata.name)
  const dependsOn = manifest.policy?.dependsOn ?? []
  return dependsOn.flatMap((key, index) =>
    key === self
      ? [
          ruleError('depends-on-itself', {
            path: ['policy', 'dependsOn', index],
            message: `${self} depends on itself, so it cannot be created.`,
            hint: 'Remove this entry.',
          }),
        ]
      : [],
  )
}

export function createOncePolicyRules({ kind, metadata, policy }: ResourceManifest): readonly FieldFinding[] {
  if (policy === undefined) return []
  return [...contradictions(kind, policy), ...targets(keyOf(kind, metadata.name), policy)]
}

function contradictions(kind: string, { renamedFrom, replaces }: Policy): readonly FieldFinding[] {
  if (replaces === undefined || renamedFrom !== replaces) return []
  const noun = kindNamed(kind)?.noun ?? ''
  return [
    ruleError('policy-contradiction', {
      path: ['policy', 'replaces'],
      message: `\`renamedFrom\` and \`replaces\` exclude each other: \`renamedFrom\` says that this is the same ${noun}, and \`replaces\` that it is a new one.`,
      hint: `Keep \`renamedFrom\` to keep the ${noun}, or \`replaces\` to create a new one.`,
    }),
  ]
}

function targets(self: Key, policy: Policy): readonly FieldFinding[] {
  return (['renamedFrom', 'replaces'] as const).flatMap((field) => {
    const text = policy[field]
    const target = text === undefined ? undefined : parseKey(text)
    if (target === undefined) return []
    const kind = kindOf(self)
    if (kindOf(target) !== kind) {
      return [
        ruleError('policy-target-invalid', {
          path: ['policy', field],
          message: `\`${field}\` must name ${anyOf(kind)}, and ${target} is none.`,
          hint: `Write the key of the other ${kind}, such as "${keyOf(kind, nameOf(target))}".`,
        }),
      ]
    }
    if (target !== self) return []
    return [
      ruleError('policy-target-invalid', {
        path: ['policy', field],
        message: `\`${field}\` must name another ${kind}, and ${self} is this one.`,
        hint: `Write the key of the other ${kind}, or remove \`${field}\`.`,
      }),
    ]
  })
}
