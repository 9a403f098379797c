import { gunzipSync, gzipSync } from 'node:zlib'
import type { Key } from '../../kinds/key.ts'
import type { MissingPipe } from '../../contract/ledger.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { Kept } from './record-object.ts'

/** What a record lost when its object was put back to an earlier state, edited by hand, or deleted. */
export interface Loss {
  readonly key: Key
  /** Of the object, before. */
  readonly was: number
  /** Of the object, now. 0: it is gone. */
  readonly is: number
  /** With it went the only word of a pipe, or of a create that may have made one: without that it would be created a second time. */
  readonly isOfPipe: boolean
  /** The id of that pipe, as far as it was known. */
  readonly id: string | undefined
}

/** All that was noticed. */
export interface Losses {
  /** Sentences about other things than one record. */
  readonly words: Set<string>
  readonly records: Map<string, Loss>
}

/** So many are named in words. */
const NAMED = 5

export function noLosses(): Losses {
  return { words: new Set(), records: new Map() }
}

/** @param now undefined: it is gone @returns undefined: nothing was lost */
export function lossOf(known: Kept, now: Kept | undefined): Loss | undefined {
  const isSame = now?.version === known.version && now.body === known.body
  if (now !== undefined && (isSame || now.version > known.version)) return undefined
  const [before, after] = [rememberedIn(known), rememberedIn(now)]
  const id = before?.remote?.id
  const state = before?.intent?.state
  const isUnderWay = (state === 'open' || state === 'unknown') && after?.intent?.id !== before?.intent?.id
  const isOfPipe = id === undefined ? isUnderWay : after?.remote?.id !== id
  // Somebody has edited it by hand.
  if (now?.version === known.version && !isOfPipe) return undefined
  return {
    key: known.key,
    was: known.version,
    is: now?.version ?? 0,
    isOfPipe,
    id: isOfPipe ? id : undefined,
  }
}

function rememberedIn(kept: Kept | undefined): Partial<Pick<LedgerRecord, 'remote' | 'intent'>> | undefined {
  if (kept?.body === undefined) return undefined
  try {
    return JSON.parse(kept.body) as LedgerRecord // as the codec wrote it
  } catch {
    return undefined // somebody has edited it: whoever reads the record says so
  }
}

/** Merged by item: who notices the same is not heard twice. */
export function addLosses(to: Losses, more: Losses | Loss | string): void {
  if (typeof more === 'string') to.words.add(more)
  else if ('words' in more) {
    for (const words of more.words) to.words.add(words)
    for (const loss of more.records.values()) addLosses(to, loss)
  } else {
    const known = to.records.get(itemOf(more))
    const was = Math.max(more.was, known?.was ?? 0)
    to.records.set(itemOf(more), { ...more, was, is: Math.min(more.is, known?.is ?? more.is) })
  }
}

export function removeLosses(from: Losses, these: Losses): void {
  for (const words of these.words) from.words.delete(words)
  for (const item of these.records.keys()) from.records.delete(item)
}

export function isNone({ words, records }: Losses): boolean {
  return words.size === 0 && records.size === 0
}

function itemOf({ key, isOfPipe, id = '' }: Loss): string {
  return `${key} ${isOfPipe} ${id}`
}

/** Those whose pipes would be created a second time. In the order of their keys. */
export function pipesIn({ records }: Losses): readonly Loss[] {
  const ofPipes = [...records.values()].filter(({ isOfPipe }) => isOfPipe)
  // Who was behind when it happened knew no id yet.
  const withId = new Set(ofPipes.flatMap(({ key, id }) => (id === undefined ? [] : [key])))
  return ofPipes.filter(({ key, id }) => id !== undefined || !withId.has(key)).toSorted(inOrder)
}

function inOrder(one: Loss, other: Loss): number {
  return itemOf(one) < itemOf(other) ? -1 : 1
}

/** A record that is gone comes first, and one that only went back comes last. */
export function inWords(losses: Losses): string {
  const pipes = pipesIn(losses)
  const isNamed = new Set(pipes.map(({ key }) => key))
  const others = [...losses.records.values()].filter(({ key }) => !isNamed.has(key)).toSorted(inOrder)
  const gone = [...pipes, ...others.filter(({ is }) => is === 0)]
  const back = others.filter(({ is }) => is > 0)
  const few = back.length <= NAMED
  return [
    ...gone.slice(0, NAMED).map(wordsOf),
    ...(gone.length > NAMED ? [`${gone.length - NAMED} more records are gone, or lack their pipe`] : []),
    ...losses.words,
    ...(few ? back.map(wordsOf) : [`${back.length} records are at earlier versions than they were`]),
  ].join('; ')
}

function wordsOf({ key, was, is, id }: Loss): string {
  const now =
    is === 0
      ? 'is gone'
      : is === was
        ? `is another one at the same version ${is}`
        : `was at version ${was}, and is at ${is}`
  return `the record of ${key} ${now}${id === undefined ? '' : ` (its pipe: ${id})`}`
}

/** Those that no record holds by now: a person has adopted the others, under their keys or under other ones. */
export function missingIn(losses: Losses, kept: Iterable<Kept>): readonly MissingPipe[] {
  const pipes = pipesIn(losses)
  if (pipes.length === 0) return []
  const there = new Map<Key, string | undefined>()
  for (const each of kept) there.set(each.key, rememberedIn(each)?.remote?.id)
  const ids = new Set(there.values())
  return pipes
    .filter(({ key, id }) => (id === undefined ? there.get(key) === undefined : !ids.has(id)))
    .map(missing)
}

export function missing({ key, id }: Loss): MissingPipe {
  return { key, id, command: `pipewright adopt ${key} ${id ?? 'ID'}` }
}

/** As the Secret of the ledger keeps them. */
export function packedLosses({ words, records }: Losses): string {
  return gzipSync(JSON.stringify({ words: [...words], records: [...records.values()] })).toString('base64')
}

/** @param said what the Secret says in words, for one whose list cannot be read, or was never made */
export function unpackedLosses(packed: string | undefined, said: string | undefined): Losses {
  const losses = noLosses()
  try {
    if (packed !== undefined) {
      const { words, records } = JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')) as {
        words: readonly string[]
        records: readonly Loss[]
      } // as it was packed
      for (const item of [...words, ...records]) addLosses(losses, item)
      return losses
    }
  } catch {
    // Somebody has edited it: the words are left.
  }
  if (said !== undefined) losses.words.add(said)
  return losses
}
