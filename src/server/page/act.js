import { ReplyError, send, get } from './api.js'
import { byId, controlById, setText } from './elements.js'

/**
 * Actions of the page. Each needs the admin token, which the tab keeps until it closes.
 * @import { OverviewReply } from '../api/overview.ts'
 * @typedef {{ title: string, text: string, confirm: string }} Question
 */

const TOKEN = 'pipewright-admin-token'
const LOOK_MS = 500
const LOOKS = 240
const SHOWN_MS = 8_000

const OFF = {
  title: 'Switched off',
  text: 'The daemon was started without an admin token. Start it with --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE). Then this button asks for that token.',
  confirm: 'Close',
}

let canAct = false
let tokenFile = ''

/** Blocked creates: all, and by service. */
let heldBack = 0
/** @type {OverviewReply['createLimit']['services']} */
let heldIn = []

/** @param {Pick<OverviewReply, 'acts' | 'adminTokenFile' | 'createLimit'>} overview */
export function setActing({ acts, adminTokenFile = '', createLimit }) {
  canAct = acts
  tokenFile = adminTokenFile
  heldBack = createLimit.held
  heldIn = createLimit.services
}

/** @param {string} [key] undefined: reads the manifests and checks everything */
export async function checkNow(key) {
  const what = key ?? 'everything'
  await acting(
    {
      title: `Check ${what} now`,
      text: '',
      confirm: 'Check now',
    },
    { isAsked: false },
    async (token) => {
      tell(`Checking ${what}…`)
      const receipt = await send('-/reconcile', key === undefined ? undefined : { key }, token)
      const isDone = await finished(`api/v1/reconciles/${encodeURIComponent(receipt.token)}`)
      dispatchEvent(new Event('checked'))
      tell(
        isDone ? `Checked ${what}.` : `${what} is still being checked. This page shows when it is done.`,
        SHOWN_MS,
      )
    },
  )
}

/**
 * Allows a service's blocked creates. The daemon refuses if there are more than the page shows.
 * @param {string} [service] undefined: all services
 */
export async function letThrough(service) {
  const count =
    service === undefined ? heldBack : (heldIn.find((each) => each.service === service)?.held ?? 0)
  if (count === 0) {
    tell('The create limit blocks no pipe any more.', SHOWN_MS)
    return
  }
  const creations = count === 1 ? '1 creation' : `${count} creations`
  const where = service === undefined ? '' : `In service ${service}. `
  await acting(
    {
      title: `Let ${creations} through?`,
      text: `${where}Each of them creates a resource on the platform. Later changes are not let through.`,
      confirm: `Let ${creations} through`,
    },
    { isAsked: true },
    async (token) => {
      tell(`Letting ${creations} through…`)
      const { allowed } = await send('-/allow', { count, service }, token)
      tell(
        allowed.length === 0
          ? 'The create limit blocked no pipe any more.'
          : `Let through: ${allowed.slice(0, 5).join(', ')}${allowed.length > 5 ? ` and ${allowed.length - 5} more` : ''}.`,
        SHOWN_MS,
      )
    },
  )
}

/**
 * Asks for confirmation and token, then acts. Repeats after a wrong token.
 * @param {Question} question @param {{ isAsked: boolean }} how whether to ask even with a known token
 * @param {(token: string) => Promise<void>} act
 */
async function acting(question, { isAsked }, act) {
  if (!canAct) {
    await ask(OFF, { needsToken: false })
    return
  }
  let token = sessionStorage.getItem(TOKEN) ?? ''
  if (token === '' || isAsked) {
    const answer = await ask(question, { needsToken: token === '' })
    if (answer === undefined) return
    if (token === '') token = answer
  }
  let problem = await attempt(act, token)
  while (problem !== undefined) {
    sessionStorage.removeItem(TOKEN)
    const answer = await ask(question, { needsToken: true, problem })
    if (answer === undefined) return
    token = answer
    problem = await attempt(act, token)
  }
}

/** @param {(token: string) => Promise<void>} act @param {string} token @returns {Promise<string | undefined>} the error of a wrong token */
async function attempt(act, token) {
  try {
    await act(token)
    sessionStorage.setItem(TOKEN, token)
    return undefined
  } catch (error) {
    if (error instanceof ReplyError && error.status === 401) {
      tell('')
      return 'This token is not the admin token.'
    }
    sessionStorage.setItem(TOKEN, token)
    tell(
      error instanceof ReplyError ? `${error.message}. ${error.hint}` : 'The daemon does not answer.',
      SHOWN_MS,
    )
    return undefined
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

/**
 * @param {Question} question @param {{ needsToken: boolean, problem?: string }} how
 * @returns {Promise<string | undefined>} the token; empty: not needed; undefined: cancelled
 */
function ask({ title, text, confirm }, { needsToken, problem = '' }) {
  const dialog = controlById('question', HTMLDialogElement)
  const field = controlById('token', HTMLInputElement)
  const where = needsToken ? `The admin token is in the file ${tokenFile}, where the daemon runs.` : ''
  setText('question-title', title)
  setText('question-text', `${text} ${where}`.trim())
  setText('question-problem', problem)
  byId('question-problem').hidden = problem === ''
  byId('token-label').hidden = !needsToken
  field.required = needsToken
  field.value = ''
  setText('question-confirm', confirm)
  byId('question-cancel').hidden = !canAct
  dialog.returnValue = ''
  dialog.showModal()
  ;(needsToken ? field : byId('question-confirm')).focus()
  return new Promise((resolve) => {
    dialog.addEventListener(
      'close',
      () => {
        const token = field.value.trim()
        field.value = ''
        resolve(dialog.returnValue === 'yes' ? token : undefined)
      },
      { once: true },
    )
  })
}

export function setUpActing() {
  const dialog = controlById('question', HTMLDialogElement)
  byId('question-form').addEventListener('submit', (event) => {
    event.preventDefault()
    dialog.close('yes')
  })
  byId('question-cancel').addEventListener('click', () => dialog.close(''))
  byId('check-all').addEventListener('click', () => void checkNow())
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer

/** Shows progress at the bottom. @param {string} text @param {number} [forMs] */
function tell(text, forMs) {
  clearTimeout(timer)
  setText('told', text)
  byId('told').hidden = text === ''
  if (forMs !== undefined) timer = setTimeout(() => tell(''), forMs)
}
