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
  /** Why the server refused the present address. @type {PageReply['refused']} */ refused: undefined,
  /** The server has not answered for the page's address. */ isUnanswered: false,
  /** @type {Connection} */ connection: { how: 'lost', asOf: undefined },
  /** Entries shown of "What changed". */ entries: 8,
  areFiltersOpen: false,
  areAllFieldsShown: false,
  /** Text whose copy button was pressed. */ copied: '',
  isInClipboard: false,
  /** Text for screen readers. */ announced: '',
  /** Text at the bottom of the page. */ told: '',
  /** @type {Question | undefined} */ question: undefined,
}

let draw = () => {}

/** @param {() => void} drawView */
export function setDrawing(drawView) {
  draw = drawView
}

/** @param {Partial<typeof view>} changes */
export function change(changes) {
  Object.assign(view, changes)
  draw()
}
