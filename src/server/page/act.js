import { ReplyError, send, get } from './api.js'
import { h } from './markup.js'
import { change, view } from './view.js'

/**
 * Actions need the admin token, which the tab keeps until it closes.
 * @import { Question } from './view.js'
 * @typedef {Pick<Question, 'title' | 'text' | 'confirm'>} Asked
 */

const TOKEN = 'pipewright-admin-token'
const LOOK_MS = 500
const LOOKS = 240
const SHOWN_MS = 8_000

const OFF = {
  title: 'Switched off',
  text: 'The daemon has no admin token, so this button is off. Start the daemon with --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE).',
  confirm: 'Close',
}

/** @param {string} [key] undefined: reads the manifests and checks everything */
export async function checkNow(key) {
  const what = key ?? 'everything'
  const question = { title: `Check ${what} now`, text: '', confirm: 'Check now' }
  await acting(question, { isAsked: false }, async (token) => {
    tell(`Checking ${what}…`)
    const receipt = await send('-/reconcile', key === undefined ? undefined : { key }, token)
    const isDone = await finished(`api/v1/reconciles/${encodeURIComponent(receipt.token)}`)
    dispatchEvent(new Event('checked'))
    tell(
      isDone
        ? `Checked ${what}.`
        : `${what} is still being checked. This page shows the result when the check ends.`,
      SHOWN_MS,
    )
  })
}

/**
 * Allows a service's blocked creates. The daemon refuses if more are blocked than the page shows.
 * @param {string} [service] undefined: all services
 */
export async function letThrough(service) {
  const { held = 0, services = [] } = view.overview?.createLimit ?? {}
  const count = service === undefined ? held : (services.find((each) => each.service === service)?.held ?? 0)
  if (count === 0) {
    tell('The create limit blocks no pipe any more.', SHOWN_MS)
    return
  }
  const creations = count === 1 ? '1 creation' : `${count} creations`
  const where = service === undefined ? '' : `In service ${service}. `
  const question = {
    title: `Let ${creations} through?`,
    text: `${where}Each of them creates a resource. If a manifest is edited before its create, the limit can block the create again.`,
    confirm: `Let ${creations} through`,
  }
  await acting(question, { isAsked: true }, async (token) => {
    tell(`Letting ${creations} through…`)
    const { allowed } = await send('-/allow', { count, service }, token)
    const more = allowed.length > 5 ? ` and ${allowed.length - 5} more` : ''
    tell(
      allowed.length === 0
        ? 'The create limit blocked no pipe any more.'
        : `Let through: ${allowed.slice(0, 5).join(', ')}${more}.`,
      SHOWN_MS,
    )
  })
}

/**
 * Asks for confirmation and token, then acts. Asks again after a wrong token.
 * @param {Asked} asked @param {{ isAsked: boolean }} how ask even with a known token
 * @param {(token: string) => Promise<void>} act
 */
async function acting(asked, { isAsked }, act) {
  if (view.overview?.acts !== true) {
    await ask({ ...OFF, needsToken: false, problem: '' })
    return
  }
  let token = sessionStorage.getItem(TOKEN) ?? ''
  for (let problem = ''; ; problem = 'This token is not the admin token.') {
    if (token === '' || (isAsked && problem === '')) {
      const answered = await ask({ ...asked, needsToken: token === '', problem })
      if (answered === undefined) return
      token ||= answered
    }
    try {
      await act(token)
    } catch (error) {
      if (error instanceof ReplyError && error.status === 401) {
        tell('')
        sessionStorage.removeItem(TOKEN)
        token = ''
        continue
      }
      const isAnswer = error instanceof ReplyError
      tell(isAnswer ? `${error.message}. ${error.hint}` : 'The daemon does not answer.', SHOWN_MS)
    }
    sessionStorage.setItem(TOKEN, token)
    return
  }
}

/** @param {`api/v1/reconciles/${string}`} progress */
async function finished(progress) {
  for (let look = 0; look < LOOKS; look += 1) {
    const { done } = await get(progress)
    if (done) return true
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return false
}

/** @type {(token: string | undefined) => void} */
let answer = () => {}

/**
 * @param {Question} question
 * @returns {Promise<string | undefined>} the token; empty: not needed; undefined: cancelled
 */
function ask(question) {
  change({ question })
  const opened = document.querySelector('dialog')
  opened?.showModal()
  opened?.querySelector(question.needsToken ? 'input' : 'button')?.focus()
  return new Promise((resolve) => {
    answer = (token) => {
      answer = () => {}
      opened?.close() // the focus goes back
      change({ question: undefined })
      resolve(token)
    }
  })
}

export function dialog() {
  const { question, overview } = view
  if (question === undefined) return ''
  const { title, text, confirm, needsToken, problem } = question
  const where = `The admin token is in the file ${overview?.adminTokenFile ?? ''}, where the daemon runs.`
  return h`<dialog aria-labelledby="question-title" aria-describedby="question-text" onClose=${() => answer(undefined)}>
    <form method="dialog" onSubmit=${confirmed}>
      <h2 id="question-title">${title}</h2>
      <p id="question-text">${text} ${needsToken && where}</p>
      ${needsToken && h`<label>Admin token <input type="password" autocomplete="off" spellcheck="false" required /></label>`}
      ${problem !== '' && h`<p class="bad" role="alert">${problem}</p>`}
      <p class="buttons">
        <button>${confirm}</button>
        ${overview?.acts === true && h`<button type="button" onClick=${() => answer(undefined)}>Cancel</button>`}
      </p>
    </form>
  </dialog>`
}

/** @param {SubmitEvent} event */
function confirmed(event) {
  event.preventDefault()
  const { currentTarget: form } = event
  answer(form instanceof Element ? (form.querySelector('input')?.value.trim() ?? '') : '')
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer

/** @param {string} told @param {number} [forMs] */
function tell(told, forMs) {
  clearTimeout(timer)
  change({ told })
  if (forMs !== undefined) timer = setTimeout(() => change({ told: '' }), forMs)
}
