// Plans a cluster before and after a change of its manifests and comments on the pull request.
//
//   node check.mjs BEFORE AFTER
//
// BEFORE and AFTER are folders of manifests, such as two checkouts. Environment:
//   GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, PULL_REQUEST   where the comment goes; without a
//                                                                  number it is printed only
//   MOST_PERCENT      cost may rise by this much before the check fails; 10 by default
// Exit codes: 0 good, 1 a change that costs too much, leaves pods over or has new errors, 2 manifests
// that cannot be read or a comment that cannot be posted.

import { pathToFileURL } from 'node:url'

import { DunnageError, Snapshot, lintFiles } from 'dunnage'

const MARK = '<!-- dunnage: cost of this change -->'

/** What the change does to the plan, and the comment that says so. */
export async function compare(before, after, mostPercent = 10) {
  const [old, now] = [Snapshot.load(before), Snapshot.load(after)]
  const [first, then] = await Promise.all([old.plan(), now.plan()])
  const [known, found] = await Promise.all([lintFiles(before), lintFiles(after)])
  const key = (finding) => JSON.stringify([finding.code, finding.object, finding.message])
  const seen = new Set(known.findings.map(key))
  const fresh = found.findings.filter((finding) => !seen.has(key(finding)) && finding.severity !== 'info')
  const left = then.unplaced.filter((row) => !first.unplaced.some((own) => own.pod === row.pod))
  const [was, is] = [first.cost.launchPerHour, then.cost.launchPerHour]
  const percent = was > 0 && is !== null ? ((is - was) / was) * 100 : 0
  const bad = []
  if (percent > mostPercent) bad.push(`it costs ${percent.toFixed(1)} % more, and ${mostPercent} % is the most`)
  if (left.length > 0) bad.push(`${left.length} pod(s) that had a node have none`)
  const errors = fresh.filter((finding) => finding.severity === 'error')
  if (errors.length > 0) bad.push(`${errors.length} new error(s)`)
  return { comment: comment({ first, then, percent, left, fresh, bad }), isGood: bad.length === 0 }
}

function money(price) {
  return price === null ? 'unknown' : `${price.toFixed(4)} USD/h`
}

function comment({ first, then, percent, left, fresh, bad }) {
  const sign = percent > 0 ? '+' : ''
  const rows = [
    MARK,
    bad.length === 0 ? '**This change is fine for the cluster.**' : `**This change needs a look:** ${bad.join('; ')}.`,
    '',
    '| | before | after |',
    '|---|---|---|',
    `| cost | ${money(first.cost.launchPerHour)} | ${money(then.cost.launchPerHour)} (${sign}${percent.toFixed(1)} %) |`,
    `| nodes | ${first.launch.length} | ${then.launch.length} |`,
    `| pods without a node | ${first.unplaced.length} | ${then.unplaced.length} |`,
  ]
  for (const row of left.slice(0, 10)) {
    rows.push('', `- \`${row.pod}\`: ${row.because.map((because) => because.message).join('; ')}`)
  }
  if (left.length > 10) rows.push(`- and ${left.length - 10} more`)
  for (const finding of fresh.slice(0, 10)) {
    rows.push('', `- ${finding.severity} ${finding.code}, ${finding.object}: ${finding.message}. ${finding.fix}`)
  }
  if (fresh.length > 10) rows.push(`- and ${fresh.length - 10} more findings`)
  return rows.join('\n') + '\n'
}

/** Manifests that cannot be read, as a comment. */
export function unreadable(error) {
  const lines = error.message.split('\n').slice(0, 10).map((line) => `    ${line}`)
  return [MARK, '**These manifests cannot be read.**', '', ...lines].join('\n') + '\n'
}

/** Posts the comment, or puts it in the place of the one of an earlier run. */
export async function post(text, env) {
  const { GITHUB_API_URL: api, GITHUB_REPOSITORY: repository, GITHUB_TOKEN: token, PULL_REQUEST: number } = env
  if (!number) return
  const ask = async (method, path, body) => {
    const answer = await fetch(`${api}/repos/${repository}/${path}`, {
      method,
      headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${(await answer.text()).slice(0, 200)}`)
    return answer.json()
  }
  const comments = await ask('GET', `issues/${number}/comments?per_page=100`)
  const own = comments.find((comment) => comment.body?.startsWith(MARK))
  if (own) await ask('PATCH', `issues/comments/${own.id}`, { body: text })
  else await ask('POST', `issues/${number}/comments`, { body: text })
}

/** The whole check; its exit code. */
export async function main([before, after], env) {
  if (!before || !after) {
    console.error('usage: node check.mjs BEFORE AFTER')
    return 2
  }
  let text
  let code
  try {
    const { comment, isGood } = await compare(before, after, Number(env.MOST_PERCENT ?? 10))
    ;[text, code] = [comment, isGood ? 0 : 1]
  } catch (error) {
    if (!(error instanceof DunnageError)) throw error
    ;[text, code] = [unreadable(error), 2]
  }
  process.stdout.write(text)
  try {
    await post(text, env)
  } catch (error) {
    console.error(`the comment was not posted: ${error.message}`)
    return 2
  }
  return code
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2), process.env)
}
