/** Which machines your pods need, what they cost, and why. */

/** Text or bytes of manifests, a Snapshot or an object, or a list of Kubernetes objects. */
export type Input = string | Uint8Array | object | readonly object[]

/** A text with the name that errors call it by. */
export interface Text {
  name: string
  text: string
}

/** What a question asks beside the input: the flags of the command line. */
export interface Options {
  strategy?: 'cheapest' | 'greedy' | 'karpenter'
  effort?: 'low' | 'default' | 'high'
  /** Region of the built-in catalog, instead of the one that the input shows. */
  catalog?: string
  /** A price file, or its text. */
  prices?: string | Text
  /** `0.9`, `spot=0.8`, `m5=0.7`, `m5/on-demand=0.6`. */
  discounts?: readonly string[]
  withoutZones?: readonly string[]
  /** The moment to plan for. */
  now?: string
  settings?: Readonly<Record<string, unknown>>
  /** Quotas of the cloud account: a file, or its text. */
  quotas?: string | Text
  /** Also what proves the lower bound. */
  dual?: boolean
  replay?: 'leastAllocated' | 'mostAllocated'
}

/** Options of answers off the event loop: the signal stops the solve itself. */
export interface AsyncOptions extends Options {
  signal?: AbortSignal
}

export interface Because {
  code: string
  message: string
  [field: string]: unknown
}

export interface Requirement {
  key: string
  operator: string
  values: string[]
  minValues?: number
}

/** A node to launch. Prices are USD per hour, `null` where nobody knows one. */
export interface Launch {
  nodePool: string
  nodeClass: string
  instanceTypes: string[]
  cheapest: { instanceType: string; zone: string; capacityType: string; pricePerHour: number | null }
  requirements: Requirement[]
  requests: Record<string, string>
  pods: string[]
  because: Because[]
}

export interface Plan {
  launch: Launch[]
  staticLaunch?: Launch[]
  bind: { node: string; pods: string[] }[]
  unplaced: { pod: string; because: Because[] }[]
  quotas?: Record<string, unknown>[]
  warnings: { code: string; message: string; object: string }[]
  cost: { launchPerHour: number | null; lowerBoundPerHour: number | null; gap: number | null }
  dual?: Record<string, unknown>
  replay?: Record<string, unknown>
  effort: { steps: number; memoryBytes: number }
}

export interface Finding {
  code: string
  severity: 'error' | 'warning' | 'info'
  object: string
  message: string
  fix: string
}

export interface Findings {
  findings: Finding[]
}

/** One thing that is wrong. */
export interface Fault {
  code: string
  path: string
  message: string
  file?: string
  document?: number
  line?: number
  value?: string
}

/** Bad input or a bad question, or a promise that was broken (code `Broken`). */
export class DunnageError extends Error {
  readonly code: string
  readonly path: string
  readonly errors: readonly Fault[]
}

export type Kind = 'pod' | 'node' | 'launch' | 'pool' | 'waste'
export type Explanation = Record<string, unknown>

/** A cluster at one moment: read once, asked often, never changed; what-ifs are others. */
export class Snapshot {
  private constructor(world: unknown)
  /** Reads files, and the manifests of folders. */
  static load(paths: string | readonly string[], options?: { now?: string }): Snapshot
  /** Reads text, bytes, an object or a list of objects, those of the Kubernetes client among them. */
  static from(input: Input, options?: { now?: string }): Snapshot

  /** The exact text that `dunnage … -o json` prints. */
  text(words: readonly string[], options?: AsyncOptions): Promise<string>
  textSync(words: readonly string[], options?: Options): string
  /** What would be launched for the pending pods. */
  plan(options?: AsyncOptions): Promise<Plan>
  planSync(options?: Options): Plan
  /** The chain behind an object, what a pool costs, or where money is wasted. */
  explain(kind: Kind, name?: string | number | null, options?: AsyncOptions): Promise<Explanation>
  explainSync(kind: Kind, name?: string | number | null, options?: Options): Explanation
  /** What is wrong, risky or careless. */
  lint(options?: AsyncOptions): Promise<Findings>
  lintSync(options?: Options): Findings
  /** The plan as one HTML page. */
  page(options?: AsyncOptions): Promise<string>
  pageSync(options?: Options): string

  withObjects(objects: Input): Snapshot
  withPool(pool: Input): Snapshot
  withoutPool(name: string): Snapshot
  withWorkload(workload: Input, replicas?: number): Snapshot
  withoutWorkload(name: string): Snapshot
  withRequests(workload: string, requests: Readonly<Record<string, string>>, container?: string): Snapshot
  withoutZone(zone: string): Snapshot
  withPrices(prices: string | Text): Snapshot
  /** Options that hold for every question. */
  withOptions(options: Options): Snapshot
}

export function plan(input: Input, options?: AsyncOptions): Promise<Plan>
export function planSync(input: Input, options?: Options): Plan
export function explain(input: Input, kind: Kind, name?: string | number | null, options?: AsyncOptions): Promise<Explanation>
export function explainSync(input: Input, kind: Kind, name?: string | number | null, options?: Options): Explanation
/** Findings about an input of which some objects may be refused. */
export function lint(input: Input, options?: AsyncOptions): Promise<Findings>
export function lintSync(input: Input, options?: Options): Findings
/** Findings about files and folders. */
export function lintFiles(paths: string | readonly string[], options?: AsyncOptions): Promise<Findings>
