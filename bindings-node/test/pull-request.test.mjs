import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'

const root = path.resolve(process.env.DUNNAGE_ROOT)
const example = path.join(root, 'examples', 'eks-inflate')
const MARK = '<!-- dunnage: cost of this change -->'

let server
let api
const comments = []
const asked = []

/** The part of GitHub's API that the check uses. */
before(async () => {
  server = http.createServer((request, response) => {
    let body = ''
    request.on('data', (part) => (body += part))
    request.on('end', () => {
      asked.push(`${request.method} ${request.url}`)
      assert.equal(request.headers.authorization, 'Bearer secret')
      const send = (code, value) => {
        response.writeHead(code, { 'content-type': 'application/json' })
        response.end(JSON.stringify(value))
      }
      if (request.url.startsWith('/repos/shop/web/issues/404')) return send(404, { message: 'no such pull request' })
      if (request.method === 'GET') return send(200, comments)
      const text = JSON.parse(body).body
      if (request.method === 'POST') {
        comments.push({ id: comments.length + 1, body: text })
        return send(201, comments.at(-1))
      }
      const id = Number(request.url.split('/').at(-1))
      comments.find((comment) => comment.id === id).body = text
      send(200, {})
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${server.address().port}`
})

after(() => server.close())

/** A copy of the example with the pool changed. */
function changed(edit) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dunnage-check-'))
  for (const name of fs.readdirSync(example).filter((name) => name.endsWith('.yaml'))) {
    const text = fs.readFileSync(path.join(example, name), 'utf8')
    const now = name === 'nodepool.yaml' ? edit(text) : text
    if (name === 'nodepool.yaml') assert.notEqual(edit(`${text}#`), text)
    fs.writeFileSync(path.join(folder, name), now)
  }
  return folder
}

/** Runs the check as a workflow does. */
async function check(folder, more = {}) {
  const script = path.join(process.cwd(), 'check.mjs')
  const running = spawn(process.execPath, [script, example, folder], {
    env: { ...process.env, GITHUB_API_URL: api, GITHUB_REPOSITORY: 'shop/web', GITHUB_TOKEN: 'secret', PULL_REQUEST: '7', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  running.stdout.on('data', (part) => (out += part))
  running.stderr.on('data', (part) => (err += part))
  const code = await new Promise((resolve) => running.on('close', resolve))
  fs.rmSync(folder, { recursive: true })
  return { code, out, err }
}

test('a good change', async () => {
  const { code, out } = await check(changed((text) => text))
  assert.equal(code, 0)
  assert.equal(out, `${MARK}
**This change is fine for the cluster.**

| | before | after |
|---|---|---|
| cost | 0.3060 USD/h | 0.3060 USD/h (0.0 %) |
| nodes | 1 | 1 |
| pods without a node | 0 | 0 |
`)
  assert.deepEqual(comments, [{ id: 1, body: out }])
})

test('a change that costs too much replaces the comment', async () => {
  const dear = (text) => text.replace(/values: \["c", "m", "r"\]/, 'values: ["r"]')
  const { code, out } = await check(changed(dear))
  assert.equal(code, 1)
  assert.match(out, /\*\*This change needs a look:\*\* it costs \d+\.\d % more, and 10 % is the most\.\*?\*?/)
  assert.match(out, /\| cost \| 0\.3060 USD\/h \| 0\.\d{4} USD\/h \(\+\d+\.\d %\) \|/)
  assert.deepEqual(comments, [{ id: 1, body: out }])
  assert.equal(asked.at(-1), 'PATCH /repos/shop/web/issues/comments/1')
  assert.equal((await check(changed(dear), { MOST_PERCENT: '1000' })).code, 0)
})

test('a change that leaves pods over', async () => {
  const { code, out } = await check(changed((text) => text.replace(/cpu: "?1000"?/, 'cpu: 2')))
  assert.equal(code, 1)
  assert.match(out, /pod\(s\) that had a node have none/)
  assert.match(out, /\n- `default\/inflate-\d`: /)
})

test('a change that cannot be read', async () => {
  const { code, out } = await check(changed((text) => text.replace('operator: In', 'operator: Near')))
  assert.equal(code, 2)
  assert.ok(out.startsWith(`${MARK}\n**These manifests cannot be read.**\n\n    `), out)
  assert.match(out, /`Near`.*\[UnknownOperator\]/)
  assert.deepEqual(comments, [{ id: 1, body: out }])
})

test('a comment that cannot be posted', async () => {
  const { code, err } = await check(changed((text) => text), { PULL_REQUEST: '404' })
  assert.equal(code, 2)
  assert.match(err, /^the comment was not posted: GET issues\/404\/comments\?per_page=100: 404 /)
})
