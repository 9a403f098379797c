import type { Key } from '../kinds/key.ts'
import { CHANGES, notificationId, summaryOf, type Notification } from './notification.ts'

/** What every message says besides its notifications; the same for every message of a process. */
export interface MessageContext {
  readonly version: string
  /** Everything is made up. */
  readonly sandbox: boolean
  /** Where people open the page, without a slash at its end; `undefined`: nobody said. */
  readonly publicUrl: string | undefined
  /** What a person does about a resource that is not well, in a sentence; `undefined`: nothing. */
  readonly nextStep: (key: Key) => string | undefined
}

/** What is sent at once: notifications about one resource, or about many. */
export interface Message {
  /** The same for the same notifications: a repetition is known by it. */
  readonly id: string
  /** When it was put together: ms since the epoch. */
  readonly at: number
  /** What happened, in a sentence. */
  readonly sentence: string
  /** Worst first. */
  readonly listed: readonly Notification[]
  /** So many more are not listed. */
  readonly more: number
  readonly total: number
  /** Of all, also those that are not listed. */
  readonly counts: Readonly<Record<string, number>>
}

export function messageOf(
  notifications: readonly Notification[],
  options: { readonly at: number; readonly most: number },
): Message {
  const listed = notifications.slice(0, options.most)
  return {
    id: notificationId(notifications.map(({ id }) => id).toSorted()),
    at: options.at,
    sentence: summaryOf(notifications),
    listed,
    more: notifications.length - listed.length,
    total: notifications.length,
    counts: Object.fromEntries(
      CHANGES.map((change) => [change, notifications.filter((item) => item.change === change).length]),
    ),
  }
}

/** Where the page shows a resource, or all of them. */
export function pageOf(
  { publicUrl }: MessageContext,
  notification: Notification | undefined,
): string | undefined {
  if (publicUrl === undefined) return undefined
  return notification === undefined || notification.status === undefined
    ? `${publicUrl}/`
    : `${publicUrl}/?resource=${notification.key}`
}

const CUT = '…'

/** At most `most` UTF-16 code units, without control characters but line breaks. */
export function plain(text: string, most: number): string {
  const clean = text.replaceAll(/[^\P{C}\n]/gu, ' ').toWellFormed()
  return clean.length <= most ? clean : `${clean.slice(0, most - CUT.length).toWellFormed()}${CUT}`
}
