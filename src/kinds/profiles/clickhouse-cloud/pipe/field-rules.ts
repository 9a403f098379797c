import { valueAt, type JsonObject } from '../../../../lib/json.ts'
import { ruleError, ruleWarning, type FieldFinding, type Path } from '../../../finding.ts'
import { notEmpty } from './sent.ts'

/** Rules between an object's fields, as data. Paths are dotted and relative. */
export type FieldRule =
  | { readonly needs: readonly string[]; readonly because: string }
  | { readonly excludes: readonly string[]; readonly because: string }
  | { readonly doubts: readonly string[]; readonly because: string }
  | { readonly field: string; readonly isOneOf: readonly string[]; readonly because: string }
  /** Allowed beginnings of a text. The message does not repeat the text, as it might be secret. */
  | { readonly field: string; readonly begins: readonly string[] }
  | { readonly field: string; readonly holds: string; readonly is: string }
  | { readonly field: string; readonly lacks: RegExp; readonly is: string; readonly instead?: string }

export const ROLE_RULE: FieldRule = { field: 'iamRole', begins: ['arn:'] }

/** Rules for fields in PEM. Comments can come before the first BEGIN line. */
export function pemRules(...fields: readonly string[]): readonly FieldRule[] {
  return fields.flatMap((field) => [
    { field, holds: '-----BEGIN ', is: 'PEM' },
    { field, lacks: /-----BEGIN [A-Z ]*PRIVATE KEY/, is: 'a private key' },
  ])
}

export type FieldRules<T> = (object: T) => readonly (FieldRule | readonly FieldRule[])[]

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

export function signsInWith(authentication: string | undefined): string {
  return authentication === undefined ? 'without authentication' : `with authentication ${authentication}`
}

export function when(isSo: boolean, ...rules: readonly FieldRule[]): readonly FieldRule[] {
  return isSo ? rules : []
}

/** @param place path of the object, such as `['spec', 'source', 'kafka']` */
export function brokenRules(
  rules: readonly (FieldRule | readonly FieldRule[])[],
  object: JsonObject,
  place: Path,
): readonly FieldFinding[] {
  return rules.flat().flatMap((rule) => broken(rule, object, place))
}

function broken(rule: FieldRule, object: JsonObject, place: Path): readonly FieldFinding[] {
  const at = (field: string) => [...place, ...field.split('.')]
  const isWrong = (field: string) => isSet(object, field) !== 'needs' in rule
  const each = (fields: readonly string[], is: string, hint: string) =>
    fields
      .filter(isWrong)
      .map(at)
      .map((path) => ({ path, message: `${named(path)} ${is}`, hint }))
  if ('needs' in rule)
    return each(rule.needs, `is missing: it is needed ${rule.because}.`, 'Add it.').map((one) =>
      ruleError('field-needed', one),
    )
  if ('excludes' in rule)
    return each(rule.excludes, `cannot be set ${rule.because}.`, 'Remove it.').map((one) =>
      ruleError('field-excluded', one),
    )
  if ('doubts' in rule) {
    const is = `has no effect ${rule.because}, as far as the documentation says.`
    const hint = 'Remove the field, unless you know that it has an effect.'
    return each(rule.doubts, is, hint).map((one) => ruleWarning('field-doubtful', one))
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
    const message = `${named(path)} is not ${rule.is}: "${rule.holds.trim()}" is missing.`
    return [ruleError('value-excluded', { path, message, hint: `Write the whole ${rule.is} text.` })]
  }
  if ('lacks' in rule) {
    if (!rule.lacks.test(value)) return []
    const secret = rule.instead === undefined ? '' : `, and refer to a mounted secret in ${rule.instead}`
    const hint = `Remove it${secret}.`
    return [ruleError('value-excluded', { path, message: `${named(path)} holds ${rule.is}.`, hint })]
  }
  if (rule.isOneOf.includes(value)) return []
  const message = `${named(path)} cannot be ${value} ${rule.because}.`
  const choice = rule.isOneOf.length === 1 ? '' : 'one of '
  return [ruleError('value-excluded', { path, message, hint: `Write ${choice}${rule.isOneOf.join(', ')}.` })]
}

function named(path: Path): string {
  return `"${path.at(-1) ?? ''}" of ${path.slice(0, -1).join('.')}`
}

function isSet(object: JsonObject, field: string): boolean {
  const value = valueAt(object, field)
  return value !== undefined && notEmpty(value) !== undefined
}
