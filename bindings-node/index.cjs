'use strict'
// Names, forms of input and errors; the answers are the planner's.

const fs = require('node:fs')
const path = require('node:path')
const native = require('./dunnage.linux-x64-gnu.node')

/** Endings of the files that are read in a folder, as the command line reads them. */
const ENDINGS = ['.yaml', '.yml', '.json']

/** Bad input or a bad question (`code` says which), or a promise that was broken (`Broken`). */
class DunnageError extends Error {
  constructor(errors) {
    super(errors.map(line).join('\n'))
    const [first = {}] = errors
    this.name = 'DunnageError'
    this.code = first.code ?? ''
    this.path = first.path ?? ''
    this.errors = errors
  }
}

/** An error as the command line prints it. */
function line(error) {
  let place = error.file ?? ''
  if (error.line !== undefined) place = place ? `${place}:${error.line}` : `line ${error.line}`
  if ((error.document ?? 0) > 1) place += ` (document ${error.document})`
  const parts = [place, error.path, error.message].filter((part) => part)
  return `${parts.join(': ')} [${error.code}]`
}

function refuse(code, file, message) {
  return new DunnageError([{ code, file, path: '', message }])
}

/** The planner's own refusals have their JSON as message. */
function told(error) {
  let errors
  try {
    errors = JSON.parse(error.message).errors
  } catch {
    return error
  }
  return new DunnageError(errors)
}

function attempt(call) {
  try {
    return call()
  } catch (error) {
    throw told(error)
  }
}

/** The text of one file. */
function fileText(file) {
  let bytes
  try {
    bytes = fs.readFileSync(file)
  } catch (error) {
    const why = { ENOENT: 'no such file or directory', EACCES: 'permission denied' }[error.code]
    throw refuse('Unreadable', file, why ?? String(error.message).toLowerCase())
  }
  try {
    return { name: file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    throw refuse('NotUtf8', file, 'the text is not UTF-8')
  }
}

/** The texts of files, and of the manifests of folders by name. */
function pathTexts(paths) {
  return paths.flat().flatMap((given) => {
    const file = String(given)
    if (!fs.existsSync(file) || !fs.statSync(file).isDirectory()) return [fileText(file)]
    const names = fs.readdirSync(file).filter((name) => ENDINGS.includes(path.extname(name))).sort()
    const files = names.map((name) => path.join(file, name)).filter((one) => fs.statSync(one).isFile())
    if (files.length === 0) {
      throw refuse('Unreadable', file, 'the directory holds no file that ends in .yaml, .yml or .json')
    }
    return files.map(fileText)
  })
}

/** Text, bytes, an object or a list of them as one text. */
function inputText(input, name = 'input') {
  if (typeof input === 'string') return { name, text: input }
  if (input instanceof Uint8Array) {
    try {
      return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(input) }
    } catch {
      throw refuse('NotUtf8', name, 'the text is not UTF-8')
    }
  }
  if (input === null || typeof input !== 'object') {
    throw refuse('NotAnObject', name, `a ${input === null ? 'null' : typeof input} is no Kubernetes object`)
  }
  const list = { apiVersion: 'v1', kind: 'List', items: input }
  return { name, text: JSON.stringify(Array.isArray(input) ? list : input) }
}

/** Options as JSON; `prices` and `quotas` are files, or texts with a name. */
function asked(options = {}) {
  const { signal: _, ...rest } = options
  for (const name of ['prices', 'quotas']) {
    if (typeof rest[name] === 'string') rest[name] = fileText(rest[name])
  }
  return JSON.stringify(rest)
}

/** Runs `call` with a flag that the signal raises. */
async function stoppable(signal, call) {
  const aborted = () => {
    const error = new DOMException(String(signal.reason?.message ?? 'the caller stopped it'), 'AbortError')
    return Object.assign(error, { cause: signal.reason })
  }
  if (signal?.aborted) throw aborted()
  const stop = new native.Stop()
  const raise = () => stop.raise()
  signal?.addEventListener('abort', raise, { once: true })
  try {
    return await call(stop)
  } catch (error) {
    if (signal?.aborted) throw aborted()
    throw told(error)
  } finally {
    signal?.removeEventListener('abort', raise)
  }
}

function explainWords(kind, name) {
  return name === undefined || name === null ? ['explain', kind] : ['explain', kind, String(name)]
}

/** A cluster at one moment: read once, asked often, never changed. */
class Snapshot {
  #world

  constructor(world) {
    if (!(world instanceof native.World)) {
      throw new TypeError('use Snapshot.load(paths) or Snapshot.from(input)')
    }
    this.#world = world
  }

  static load(paths, { now } = {}) {
    const texts = pathTexts([paths])
    return new Snapshot(attempt(() => native.World.open(texts, asked({ now }))))
  }

  static from(input, { now } = {}) {
    const texts = [inputText(input)]
    return new Snapshot(attempt(() => native.World.open(texts, asked({ now }))))
  }

  /** The exact text that the command line prints. */
  async text(words, options = {}) {
    const world = this.#world
    const json = asked(options)
    return stoppable(options.signal, (stop) => world.answer(words, json, stop))
  }

  textSync(words, options = {}) {
    const json = asked(options)
    return attempt(() => this.#world.answerSync(words, json))
  }

  async plan(options) {
    return JSON.parse(await this.text(['plan'], options))
  }

  planSync(options) {
    return JSON.parse(this.textSync(['plan'], options))
  }

  async explain(kind, name, options) {
    return JSON.parse(await this.text(explainWords(kind, name), options))
  }

  explainSync(kind, name, options) {
    return JSON.parse(this.textSync(explainWords(kind, name), options))
  }

  async lint(options) {
    return JSON.parse(await this.text(['lint'], options))
  }

  lintSync(options) {
    return JSON.parse(this.textSync(['lint'], options))
  }

  async page(options) {
    return this.text(['page'], options)
  }

  pageSync(options) {
    return this.textSync(['page'], options)
  }

  #changed(change) {
    return new Snapshot(attempt(() => change(this.#world)))
  }

  withObjects(objects) {
    const { name, text } = inputText(objects, 'objects')
    return this.#changed((world) => world.withObjects(name, text))
  }

  withPool(pool) {
    return this.withObjects(pool)
  }

  withoutPool(name) {
    return this.#changed((world) => world.withoutPool(name))
  }

  withWorkload(workload, replicas) {
    const { name, text } = inputText(workload, 'workload')
    return this.#changed((world) => world.withWorkload(name, text, replicas))
  }

  withoutWorkload(name) {
    return this.#changed((world) => world.withoutWorkload(name))
  }

  withRequests(workload, requests, container) {
    return this.#changed((world) => world.withRequests(workload, requests, container))
  }

  withoutZone(zone) {
    return this.#changed((world) => world.withoutZone(zone))
  }

  withPrices(prices) {
    const { name, text } = typeof prices === 'string' ? fileText(prices) : prices
    return this.#changed((world) => world.withPrices(name, text))
  }

  withOptions(options) {
    const json = asked(options)
    return this.#changed((world) => world.withOptions(json))
  }
}

const plan = async (input, options) => Snapshot.from(input, options).plan(options)
const planSync = (input, options) => Snapshot.from(input, options).planSync(options)
const explain = async (input, kind, name, options) =>
  Snapshot.from(input, options).explain(kind, name, options)
const explainSync = (input, kind, name, options) =>
  Snapshot.from(input, options).explainSync(kind, name, options)

/** Findings about an input of which some objects may be refused. */
async function lint(input, options = {}) {
  const texts = [inputText(input)]
  const json = asked(options)
  return JSON.parse(await stoppable(options.signal, (stop) => native.lint(texts, json, stop)))
}

function lintSync(input, options = {}) {
  const texts = [inputText(input)]
  const json = asked(options)
  return JSON.parse(attempt(() => native.lintSync(texts, json)))
}

/** Findings about files and folders. */
async function lintFiles(paths, options = {}) {
  const texts = pathTexts([paths])
  const json = asked(options)
  return JSON.parse(await stoppable(options.signal, (stop) => native.lint(texts, json, stop)))
}

module.exports = { DunnageError, Snapshot, explain, explainSync, lint, lintFiles, lintSync, plan, planSync }
