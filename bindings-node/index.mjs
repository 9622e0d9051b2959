import dunnage from './index.cjs'

export const { DunnageError, Snapshot, explain, explainSync, lint, lintFiles, lintSync, plan, planSync } = dunnage
