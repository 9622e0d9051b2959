import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

import { DunnageError, Snapshot, explain, lint, lintFiles, lintSync, plan, planSync } from 'dunnage'

const root = path.resolve(process.env.DUNNAGE_ROOT)
const inputs = path.join(root, 'testbed', 'oracle', 'inputs')
const example = path.join(root, 'examples', 'eks-inflate')
const require = createRequire(import.meta.url)

/** Standard output of the command line. */
function said(...words) {
  try {
    return execFileSync(process.env.DUNNAGE_CLI, words, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return error.stdout
  }
}

for (const name of fs.readdirSync(inputs).filter((name) => /^[01].*json$/.test(name)).sort()) {
  test(`a plan of ${name} has the bytes of the command line`, async () => {
    const file = path.join(inputs, name)
    const cluster = Snapshot.load(file)
    assert.equal(await cluster.text(['plan']), said('plan', '-f', file, '-o', 'json'))
    assert.equal(cluster.textSync(['plan'], { strategy: 'greedy' }), said('plan', '-f', file, '-o', 'json', '--strategy', 'greedy'))
    assert.equal(await cluster.text(['lint']), said('lint', '-f', file, '-o', 'json'))
  })
}

for (const name of fs.readdirSync(path.join(root, 'contract', 'examples')).sort()) {
  test(`the contract's ${name} is answered in the same bytes`, () => {
    const native = require('dunnage/package.json') && require('./native.cjs')
    const { call, answer, refusal } = JSON.parse(fs.readFileSync(path.join(root, 'contract', 'examples', name)))
    const texts = Object.entries(call.files).map(([name, text]) => ({ name, text }))
    const asked = JSON.stringify(call.asked)
    let text
    try {
      text = call.verb[0] === 'lint' ? native.lintSync(texts, asked) : native.World.open(texts, asked).answerSync(call.verb, asked)
    } catch (error) {
      assert.equal(error.message, refusal)
      return
    }
    assert.equal(text, answer)
  })
}

test('the tutorial in numbers', async () => {
  const cluster = Snapshot.load(example)
  const plan = await cluster.plan()
  assert.equal(plan.cost.launchPerHour, 0.306)
  assert.deepEqual(plan, cluster.planSync())
  assert.equal(cluster.withOptions({ discounts: ['0.5'] }).planSync().cost.launchPerHour, 0.153)
  const page = await cluster.page()
  assert.equal(page, said('plan', '-f', 'examples/eks-inflate', '-o', 'html'))
  assert.equal((await cluster.explain('pool', 'default')).nodePool, 'default')
  assert.equal(cluster.explainSync('launch', 1).chosen.instanceType, 'c6a.2xlarge')
})

const pod = (name, cpu) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', creationTimestamp: new Date('2026-01-01T00:00:00Z'), labels: undefined },
  spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }] },
})

test('text, bytes and objects say the same', async () => {
  const snapshot = { ...JSON.parse(fs.readFileSync(path.join(inputs, '02-mixed.json'))), instanceTypesFile: undefined }
  snapshot.pods = snapshot.pods.map((own) => ({ ...own }))
  snapshot.instanceTypes = snapshot.instanceTypes ?? JSON.parse(fs.readFileSync(path.join(inputs, 'types-400.json')))
  const text = JSON.stringify(snapshot)
  const [a, b, c] = [planSync(text), planSync(Buffer.from(text)), await plan(snapshot)]
  assert.deepEqual(a, b)
  assert.deepEqual(a, c)
  const more = Snapshot.load(example).withObjects([pod('a', '3'), pod('b', '1500m')]).planSync()
  assert.equal(more.launch.flatMap((launch) => launch.pods).length, 7)
  assert.equal((await explain(text, 'waste')).wastePerHour >= 0, true)
})

test('what-ifs change nothing else', () => {
  const cluster = Snapshot.load(example)
  const before = cluster.planSync()
  const zones = cluster.withoutZone('us-east-1a').planSync().launch.map((launch) => launch.cheapest.zone)
  assert.equal(zones.includes('us-east-1a'), false)
  assert.ok(cluster.withRequests('inflate', { cpu: '100m' }).planSync().cost.launchPerHour < before.cost.launchPerHour)
  assert.deepEqual(cluster.withoutWorkload('inflate').planSync().launch, [])
  assert.deepEqual(cluster.planSync(), before)
})

test('errors have a code, a path and a message', async () => {
  const bad = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: {requests: {cpu: -1}}}]}\n'
  assert.throws(() => Snapshot.from(bad), (error) => {
    assert.ok(error instanceof DunnageError)
    assert.equal(error.code, 'NegativeQuantity')
    assert.match(error.path, /requests\.cpu$/)
    assert.equal(error.errors[0].line, 4)
    return true
  })
  await assert.rejects(plan(bad), { code: 'NegativeQuantity' })
  await assert.rejects(Snapshot.load(example).plan({ strategy: 'best' }), { code: 'InvalidValue' })
  await assert.rejects(Snapshot.load(example).explain('pod', 'nobody'), { code: 'UnknownName' })
  assert.throws(() => Snapshot.load('/nowhere.yaml'), { code: 'Unreadable' })
  assert.throws(() => planSync(7), { code: 'NotAnObject' })
  assert.throws(() => new Snapshot({}), TypeError)
})

test('lint tells what is refused', async () => {
  const bad = 'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: x}\nspec: {template: {spec: {requirements: []}}}\n'
  const { findings } = await lint(bad)
  assert.ok(findings.some((finding) => finding.severity === 'error'))
  assert.deepEqual(lintSync(bad), { findings })
  assert.ok(Array.isArray((await lintFiles(example)).findings))
})

test('an abort stops the solve itself', async () => {
  const cluster = Snapshot.load(path.join(inputs, 'large-1k-800.json'))
  const abort = new AbortController()
  const planning = cluster.plan({ effort: 'high', signal: abort.signal })
  setTimeout(() => abort.abort(), 200)
  await assert.rejects(planning, { name: 'AbortError' })
  const before = process.cpuUsage()
  await new Promise((resolve) => setTimeout(resolve, 500))
  const after = process.cpuUsage(before)
  const milliseconds = (after.user + after.system) / 1000
  console.log(`CPU after the abort: ${milliseconds.toFixed(1)} ms`)
  await assert.rejects(cluster.plan({ signal: AbortSignal.abort() }), { name: 'AbortError' })
})

test('the event loop goes on while a plan is made', async () => {
  const cluster = Snapshot.load(path.join(inputs, 'large-1k-800.json'))
  let ticks = 0
  const ticking = setInterval(() => ticks++, 5)
  await cluster.plan()
  clearInterval(ticking)
  assert.ok(ticks > 10, `${ticks}`)
})

test('it works in worker threads', async () => {
  const code = `
    const { parentPort } = require('node:worker_threads')
    const { Snapshot } = require('dunnage')
    parentPort.postMessage(Snapshot.load(${JSON.stringify(example)}).textSync(['plan']))`
  const answers = await Promise.all([1, 2].map(() => new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true })
    worker.once('message', resolve)
    worker.once('error', reject)
  })))
  assert.equal(answers[0], answers[1])
  assert.equal(answers[0], Snapshot.load(example).textSync(['plan']))
})

test('CommonJS and modules are one', () => {
  assert.equal(require('dunnage').Snapshot, Snapshot)
})
