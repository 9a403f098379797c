import { valueAt, type JsonObject } from '../../../../lib/json.ts'
import { ruleError, ruleWarning, type RuleFinding } from '../../../finding.ts'
import { notEmpty } from './sent.ts'

/** What must hold between the fields of an object, as data. Paths are dotted, from that object on. */
export type FieldRule =
  /** All of these have to be there. */
  | { readonly needs: readonly string[]; readonly because: string }
  /** None of these may be there. */
  | { readonly excludes: readonly string[]; readonly because: string }
  /** These have no effect, as far as anybody knows. */
  | { readonly doubts: readonly string[]; readonly because: string }
  /** It has one of these values, where it has one. */
  | { readonly field: string; readonly isOneOf: readonly string[]; readonly because: string }
  /** A text that is written out begins with one of these. It may be secret, and is not repeated. */
  | { readonly field: string; readonly begins: readonly string[] }
  /** A text that is written out has this in it. It may be secret, and is not repeated. */
  | { readonly field: string; readonly holds: string; readonly is: string }

/** Facts 4: a role of AWS. */
export const ROLE_RULE: FieldRule = { field: 'iamRole', begins: ['arn:'] }

/** Facts 4: a certificate is PEM. Before it may stand what it is about. */
export function pemRules(...fields: readonly string[]): readonly FieldRule[] {
  return fields.map((field) => ({ field, holds: '-----BEGIN ', is: 'PEM' }))
}

/** The rules that hold for an object as it is. */
export type FieldRules<T> = (object: T) => readonly (FieldRule | readonly FieldRule[])[]

/** Of some fields these, and none of the others. */
export function only(
  needed: readonly string[],
  of: readonly string[],
  because: string,
): readonly FieldRule[] {
  return [
    { needs: needed, because },
    { excludes: of.filter((field) => !needed.includes(field)), because },
  ]
}

/** A rule that holds in a case; `because` says which that is. */
export function when(isSo: boolean, ...rules: readonly FieldRule[]): readonly FieldRule[] {
  return isSo ? rules : []
}

/** @param place where the object stands in the manifest: `['spec', 'source', 'kafka']` */
export function brokenRules(
  rules: readonly (FieldRule | readonly FieldRule[])[],
  object: JsonObject,
  place: readonly string[],
): readonly RuleFinding[] {
  return rules.flat().flatMap((rule) => broken(rule, object, place))
}

function broken(rule: FieldRule, object: JsonObject, place: readonly string[]): readonly RuleFinding[] {
  const at = (field: string) => [...place, ...field.split('.')]
  if ('needs' in rule) {
    return rule.needs
      .filter((field) => !isSet(object, field))
      .map((field) =>
        ruleError('field-needed', {
          path: at(field),
          message: `${named(at(field))} is missing: it is needed ${rule.because}.`,
          hint: 'Add it.',
        }),
      )
  }
  if ('excludes' in rule) {
    return rule.excludes
      .filter((field) => isSet(object, field))
      .map((field) =>
        ruleError('field-excluded', {
          path: at(field),
          message: `${named(at(field))} cannot be set ${rule.because}.`,
          hint: 'Remove it.',
        }),
      )
  }
  if ('doubts' in rule) {
    return rule.doubts
      .filter((field) => isSet(object, field))
      .map((field) =>
        ruleWarning('field-doubtful', {
          path: at(field),
          message: `${named(at(field))} has no effect ${rule.because}, as far as the documentation says.`,
          hint: 'Remove it, unless you know that it has one.',
        }),
      )
  }
  const value = valueAt(object, rule.field)
  if (typeof value !== 'string') return []
  const path = at(rule.field)
  if ('begins' in rule) {
    if (rule.begins.some((start) => value.startsWith(start))) return []
    const message = `${named(path)} does not begin with ${rule.begins.join(' or ')}.`
    return [ruleError('value-excluded', { path, message, hint: 'Correct it.' })]
  }
  if ('holds' in rule) {
    if (value.includes(rule.holds)) return []
    const message = `${named(path)} is not ${rule.is}: it does not hold ${rule.holds}.`
    return [ruleError('value-excluded', { path, message, hint: 'Correct it.' })]
  }
  if (rule.isOneOf.includes(value)) return []
  const message = `${named(path)} cannot be ${value} ${rule.because}.`
  const choice = rule.isOneOf.length === 1 ? '' : 'one of '
  return [ruleError('value-excluded', { path, message, hint: `Write ${choice}${rule.isOneOf.join(', ')}.` })]
}

/** As a sentence begins with it: `"iamRole" of spec.source.kafka`. */
function named(path: readonly string[]): string {
  return `"${path.at(-1) ?? ''}" of ${path.slice(0, -1).join('.')}`
}

/** What is not sent is not set. */
function isSet(object: JsonObject, field: string): boolean {
  const value = valueAt(object, field)
  return value !== undefined && notEmpty(value) !== undefined
}
