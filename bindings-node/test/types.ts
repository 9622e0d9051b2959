// Compiled under `tsc --strict`, never run.
import { DunnageError, Snapshot, lint, plan, type Finding, type Plan } from 'dunnage'

export async function cost(folder: string, signal: AbortSignal): Promise<number | null> {
  const cluster = Snapshot.load(folder)
  const now: Plan = await cluster.plan({ effort: 'low', signal })
  const narrow = cluster.withoutZone('us-east-1a').withRequests('shop/web', { cpu: '300m' }).planSync()
  const pools = narrow.launch.map((launch) => launch.nodePool)
  const pods: string[] = now.unplaced.map((row) => row.pod)
  console.log(pools, pods, await cluster.explain('waste'), await cluster.explain('launch', 1))
  return now.cost.launchPerHour
}

export async function findings(objects: object[]): Promise<readonly Finding[]> {
  try {
    await plan(objects, { settings: { nodeSurcharge: 0 }, discounts: ['spot=0.8'] })
  } catch (error) {
    if (error instanceof DunnageError) console.log(error.code, error.path, error.errors[0]?.line)
  }
  // @ts-expect-error there is no such strategy
  await plan(objects, { strategy: 'best' })
  return (await lint(objects)).findings
}
