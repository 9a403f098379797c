/**
 * @import { PageReply } from '../api/page.ts'
 * @import { Connection } from './live.js'
 * @typedef {{ title: string, text: string, confirm: string, needsToken: boolean, problem: string }} Question
 */

/** State of the page, besides the address. */
export const view = {
  /** @type {PageReply['overview'] | undefined} */ overview: undefined,
  /** The last list, also while a resource is open. @type {PageReply['whole']} */ whole: undefined,
  /** @type {PageReply['one']} */ one: undefined,
  /** Of the present address. @type {PageReply['refused']} */ refused: undefined,
  /** The present address has no answer. */ isUnanswered: false,
  /** @type {Connection} */ connection: { how: 'lost', asOf: undefined },
  /** Length of what changed. */ entries: 8,
  areFiltersOpen: false,
  areAllFieldsShown: false,
  /** Text with a pressed copy button. */ copied: '',
  isInClipboard: false,
  /** For screen readers. */ announced: '',
  /** At the bottom. */ told: '',
  /** @type {Question | undefined} */ question: undefined,
}

let draw = () => {}

/** @param {() => void} drawView */
export function setDrawing(drawView) {
  draw = drawView
}

/** Draws immediately. @param {Partial<typeof view>} changes */
export function change(changes) {
  Object.assign(view, changes)
  draw()
}
