/* Only this file makes elements. It never parses text from elsewhere as HTML, and escapes invisible characters. */

import htm from 'htm'
import { h as create } from 'preact'

/**
 * @import { VNode } from 'preact'
 * @typedef {VNode | string | undefined | false | readonly Shown[]} Shown
 */

/** Control characters except newline and tab, and marks of text direction. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\ufeff]/gu

/** @param {string} text */
export function visible(text) {
  return text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** Makes elements from an htm template. A line break between elements is no space. */
export const h = htm.bind(
  /** @param {string} tag @param {object | null} props @param {...unknown} children @returns {VNode} */
  (tag, props, ...children) =>
    create(
      tag,
      props && Object.fromEntries(Object.entries(props).map(([name, value]) => [name, clean(value)])),
      ...children.map(clean),
    ),
)

/** @param {any} value @returns {any} */
function clean(value) {
  if (typeof value === 'string') return visible(value)
  return Array.isArray(value) ? value.map(clean) : value
}

/** @param {string} name @param {Shown} value empty: no item @param {string} [kind] */
export function fact(name, value, kind) {
  return value && h`<div class=${kind}><dt>${name}</dt><dd>${value}</dd></div>`
}

/** @param {...Shown} list */
export function facts(...list) {
  return h`<dl class="facts">${list}</dl>`
}

const GOOD = new Set(['Ready', 'True', 'done', 'same'])
const CALM = new Set(['Suspended', 'Absent', 'Progressing', 'Unknown', 'started'])
const WARN = new Set(['Drifted', 'Orphaned', 'NotReady', 'warning', 'differs'])

/** @param {string} status */
export function toneOf(status) {
  if (GOOD.has(status)) return 'good'
  if (CALM.has(status)) return 'calm'
  return WARN.has(status) ? 'warn' : 'bad'
}

/** @param {string} revision */
export function shortRevision(revision) {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}

/** `OutcomeUnknown` becomes `Outcome unknown`. @param {string} name */
export function worded(name) {
  return name.replaceAll(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** @param {string} status */
export function badge(status) {
  return h`<span class=${`badge ${toneOf(status)}`}>${worded(status)}</span>`
}

/** Text from elsewhere. Its direction must not change the text around it. @param {string} text */
export function foreign(text) {
  return h`<bdi>${text}</bdi>`
}

/** @param {string} text */
export function code(text) {
  return h`<code>${foreign(text)}</code>`
}

/** Text of Pipewright, in which backticks mark code. @param {string} text */
export function prose(text) {
  const parts = text.split('`')
  const isCode = (/** @type {number} */ index) => index % 2 === 1 && index < parts.length - 1
  return h`<span>${parts.map((part, index) => (isCode(index) ? code(part) : foreign(part)))}</span>`
}

/** Code without line breaks, such as a reason. @param {string} text */
export function word(text) {
  return h`<code class="word">${text}</code>`
}

/** @typedef {{ readonly key?: string, readonly name?: string, readonly cells: readonly Shown[] }} Row */

/** @param {string} caption @param {readonly string[]} titles @param {readonly Row[]} rows */
export function table(caption, titles, rows) {
  return h`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    ${rowsOf(
      caption,
      caption === COMPARED ? 'fields' : undefined,
      titles.map((title) => head(title)),
      rows,
      titles,
    )}
  </div>`
}

/**
 * Each row has a `role`, because phones show rows as blocks.
 * @param {string} caption @param {string | undefined} kind @param {readonly Shown[]} heads
 * @param {readonly Row[]} rows @param {readonly string[]} [titles]
 */
export function rowsOf(caption, kind, heads, rows, titles = []) {
  return h`<table role="table" class=${kind}>
    <caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${heads}</tr></thead>
    <tbody role="rowgroup">${rows.map(
      ({ key, name, cells }) => h`<tr key=${key} role="row" class=${name}>
        ${cells.map((cell, index) => h`<td role="cell" data-title=${titles[index]}>${cell}</td>`)}
      </tr>`,
    )}</tbody>
  </table>`
}

/** @param {Shown} title @param {string} [sorted] */
export function head(title, sorted) {
  return h`<th scope="col" role="columnheader" aria-sort=${sorted}>${title}</th>`
}

export const COMPARED = 'Desired against observed'

/** @param {number} value @param {number} max @param {string} text */
export function meter(value, max, text) {
  return h`<span><meter value=${Math.min(value, max)} max=${max} aria-label=${text}></meter> ${text}</span>`
}

/** @param {string | undefined} file @param {number | undefined} line */
export function place(file, line) {
  if (file === undefined) return ''
  return line === undefined ? file : `${file}:${line}`
}

/** @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
