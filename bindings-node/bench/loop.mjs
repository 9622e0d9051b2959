// The event loop while plans are made, memory over many calls, CPU after an abort.
//
//   node loop.mjs SNAPSHOT [CALLS]

import { monitorEventLoopDelay } from 'node:perf_hooks'

import { Snapshot } from 'dunnage'

const [file, calls = '10000'] = process.argv.slice(2)
const cluster = Snapshot.load(file)
const rss = () => process.memoryUsage().rss / 2 ** 20
const cpu = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}

for (let i = 0; i < 20; i++) cluster.textSync(['plan'])
let start = cpu()
for (let i = 0; i < 50; i++) cluster.textSync(['plan'])
const sync = (cpu() - start) / 50

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
start = cpu()
let left = Number(calls)
let done = 0
let base
async function work() {
  while (left-- > 0) {
    await cluster.text(['plan'])
    if (++done === 1000) base = rss()
  }
}
await Promise.all([work(), work()])
delay.disable()
const each = (cpu() - start) / Number(calls)
const growth = base === undefined ? NaN : ((rss() - base) / (Number(calls) - 1000)) * 1000
console.log(`${calls} plans at concurrency 2: event-loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`)
console.log(`RSS growth per 1,000 calls after the first 1,000: ${growth.toFixed(2)} MiB`)
console.log(`CPU per call ${each.toFixed(2)} ms off the loop, ${sync.toFixed(2)} ms on it`)

const abort = new AbortController()
const planning = cluster.text(['plan'], { effort: 'high', signal: abort.signal }).catch((error) => error.name)
setTimeout(() => abort.abort(), 5)
const said = await planning
start = cpu()
await new Promise((resolve) => setTimeout(resolve, 300))
console.log(`${said === 'AbortError' ? said : 'done before the abort'}; CPU in the 300 ms after it: ${(cpu() - start).toFixed(1)} ms`)
