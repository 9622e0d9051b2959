//! What resources are worth: the linear program in which pods flow like water.
//!
//! For the pods of each signature: the prices of resources (and of slots) that make the demand
//! worth the most while no machine holds more than it costs. Pods of a signature are worth what
//! they ask for at these prices. A program of a dozen rows, solved again whenever the mix of
//! what is left has shifted.

use heapless::Vec;

use super::tables::{Amounts, DIMS, Item, Machine, Shape, Tables};
use crate::limits::Exceeded;
use crate::problem::NONE;
use crate::workspace::Carver;

/// Slots of one signature that get a price of their own; further ones only limit what one
/// machine takes.
const SLOT_ROWS: usize = 16;
const ROWS: usize = DIMS + SLOT_ROWS;

/// Floats that duals need.
pub(crate) fn floats(s: &Shape) -> usize {
    s.signatures * DIMS + s.items + s.machines
}

/// Prices of resources, values of pods, and how many of each machine the flow would buy.
pub(crate) struct Duals<'m> {
    lambda: &'m mut [f64],
    /// Value of one pod of each item.
    pub value: &'m mut [f64],
    /// Machines in the program's solution.
    pub quota: &'m mut [f64],
}

impl<'m> Duals<'m> {
    pub fn carve(s: &Shape, f: &mut Carver<'m, f64>) -> Result<Self, Exceeded> {
        Ok(Self {
            lambda: f.take(s.signatures * DIMS)?,
            value: f.take(s.items)?,
            quota: f.take(s.machines)?,
        })
    }

    /// Prices of resources for pods of a signature.
    pub fn lambda(&self, signature: u32) -> Amounts {
        let mut row = [0.0; DIMS];
        row.copy_from_slice(&self.lambda[signature as usize * DIMS..][..DIMS]);
        row
    }

    /// The prices at which the machine is worth most: those of one signature that it takes.
    pub fn best_lambda(&self, tables: &Tables, machine: usize) -> Amounts {
        let machine = &tables.machines[machine];
        let (mut best, mut worth) = ([0.0; DIMS], -1.0);
        for s in (0..tables.signatures as u32).filter(|&s| machine.takes(s)) {
            let lambda = self.lambda(s);
            let sum: f64 = (0..DIMS).map(|r| lambda[r] * machine.capacity[r]).sum();
            if sum > worth {
                (best, worth) = (lambda, sum);
            }
        }
        best
    }

    /// Solves every signature for the pods that are left.
    pub fn solve(&mut self, tables: &Tables, left: &[f64], steps: &mut u64) {
        self.quota[..tables.machines.len()].fill(0.0);
        let mut start = 0;
        for s in 0..tables.signatures {
            let len =
                tables.items[start..].iter().take_while(|i| i.signature as usize == s).count();
            self.solve_one(tables, left, Some(s as u32), start..start + len, steps);
            start += len;
        }
    }

    /// Solves one program for all pods, as if every machine took every pod: one price for each
    /// resource.
    pub fn solve_pooled(&mut self, tables: &Tables, left: &[f64], steps: &mut u64) {
        self.quota[..tables.machines.len()].fill(0.0);
        self.solve_one(tables, left, None, 0..tables.items.len(), steps);
    }

    fn solve_one(
        &mut self,
        tables: &Tables,
        left: &[f64],
        signature: Option<u32>,
        rows: core::ops::Range<usize>,
        steps: &mut u64,
    ) {
        let takes = |m: &Machine| signature.is_none_or(|s| m.takes(s));
        let demand = Demand::of(&tables.items[rows.clone()], &left[rows.clone()]);
        let scale = demand.scale(tables, takes);
        let mut program = Program::new(&demand, &scale);
        for _ in 0..200 {
            program.drop_negative();
            let (mut entering, mut lowest) = (None, -1e-9);
            for (k, machine) in tables.machines.iter().enumerate() {
                if !takes(machine) || machine.units != NONE {
                    continue;
                }
                let reduced =
                    1.0 - program.worth(&demand, &scale, machine.capacity, tables) / machine.price;
                if reduced < lowest {
                    (entering, lowest) = (Some(k), reduced);
                }
            }
            *steps += tables.machines.len() as u64;
            let Some(k) = entering else { break };
            let machine = &tables.machines[k];
            let column = demand.column(&scale, &machine.capacity, tables);
            if !program.enter(&column, machine.price, k as u32) {
                break;
            }
        }
        for i in 0..program.rows {
            let id = program.ids[i];
            if id != NONE && program.amounts[i] > 1e-6 {
                self.quota[id as usize] += program.amounts[i];
            }
        }
        self.read_prices(tables, signature, rows, (&demand, &scale, &program));
    }

    fn read_prices(
        &mut self,
        tables: &Tables,
        signature: Option<u32>,
        rows: core::ops::Range<usize>,
        (demand, scale, program): (&Demand, &[f64; ROWS], &Program),
    ) {
        let mut lambda = [0.0; DIMS];
        for r in 0..DIMS {
            if let Some(i) = demand.row_of(r) {
                lambda[r] = program.prices[i].max(0.0) / scale[i];
            }
        }
        let all = 0..tables.signatures;
        for s in signature.map_or(all, |s| s as usize..s as usize + 1) {
            self.lambda[s * DIMS..][..DIMS].copy_from_slice(&lambda);
        }
        for i in rows {
            let item = &tables.items[i];
            let mut value = 0.0;
            for r in 0..DIMS {
                value += lambda[r] * item.requests[r];
            }
            if let Some(row) = demand.slot_row(item.slot) {
                value += program.prices[row].max(0.0) / scale[row];
            }
            self.value[i] = value.max(1e-6);
        }
    }
}

/// What the pods of a signature ask for together.
struct Demand {
    resources: Vec<u8, DIMS>,
    slots: Vec<u32, SLOT_ROWS>,
    amounts: [f64; ROWS],
}

impl Demand {
    fn of(items: &[Item], left: &[f64]) -> Self {
        let mut sums = [0.0; DIMS];
        let mut slots: Vec<u32, SLOT_ROWS> = Vec::new();
        let mut slot_sums = [0.0; SLOT_ROWS];
        for (item, &left) in items.iter().zip(left) {
            for r in 0..DIMS {
                sums[r] += item.requests[r] * left;
            }
            if item.slot == NONE || left <= 0.0 {
                continue;
            }
            match slots.iter().position(|&s| s == item.slot) {
                Some(at) => slot_sums[at] += left,
                None => {
                    let at = slots.len();
                    // LIMIT: slots beyond the rows have no price of their own.
                    if slots.push(item.slot).is_ok() {
                        slot_sums[at] = left;
                    }
                }
            }
        }
        let mut demand = Self { resources: Vec::new(), slots, amounts: [0.0; ROWS] };
        for (r, &sum) in sums.iter().enumerate() {
            if sum > 0.0 {
                demand.amounts[demand.resources.len()] = sum;
                // INVARIANT: there are as many places as resources.
                let _ = demand.resources.push(r as u8);
            }
        }
        let at = demand.resources.len();
        demand.amounts[at..at + demand.slots.len()]
            .copy_from_slice(&slot_sums[..demand.slots.len()]);
        demand
    }

    fn len(&self) -> usize {
        self.resources.len() + self.slots.len()
    }

    fn row_of(&self, resource: usize) -> Option<usize> {
        self.resources.iter().position(|&r| usize::from(r) == resource)
    }

    fn slot_row(&self, slot: u32) -> Option<usize> {
        self.slots.iter().position(|&s| s == slot).map(|at| self.resources.len() + at)
    }

    /// The largest amount that a machine that `takes` the pods has of each row.
    fn scale(&self, tables: &Tables, takes: impl Fn(&Machine) -> bool) -> [f64; ROWS] {
        let mut scale = [1.0f64; ROWS];
        for machine in tables.machines.iter().filter(|m| takes(m)) {
            for (i, &r) in self.resources.iter().enumerate() {
                scale[i] = scale[i].max(machine.capacity[usize::from(r)]);
            }
        }
        scale
    }

    fn column(&self, scale: &[f64; ROWS], capacity: &Amounts, tables: &Tables) -> [f64; ROWS] {
        let mut column = [0.0; ROWS];
        for (i, &r) in self.resources.iter().enumerate() {
            column[i] = capacity[usize::from(r)] / scale[i];
        }
        for (i, &s) in self.slots.iter().enumerate() {
            let at = self.resources.len() + i;
            column[at] = f64::from(tables.slots[s as usize]) / scale[at];
        }
        column
    }
}

/// A covering program, by the revised simplex method with a dense inverse: as few dollars as
/// cover all amounts.
struct Program {
    rows: usize,
    inverse: [f64; ROWS * ROWS],
    amounts: [f64; ROWS],
    costs: [f64; ROWS],
    /// Machine in the basis; [`NONE`] for a surplus or an artificial column.
    ids: [u32; ROWS],
    prices: [f64; ROWS],
}

/// Price of covering one unit of a row by nothing real, in micro-dollars: above any machine.
const ARTIFICIAL: f64 = 1e13;

impl Program {
    fn new(demand: &Demand, scale: &[f64; ROWS]) -> Self {
        let rows = demand.len();
        let mut x = Self {
            rows,
            inverse: [0.0; ROWS * ROWS],
            amounts: [0.0; ROWS],
            costs: [ARTIFICIAL; ROWS],
            ids: [NONE; ROWS],
            prices: [0.0; ROWS],
        };
        for i in 0..rows {
            x.inverse[i * ROWS + i] = 1.0;
            x.amounts[i] = demand.amounts[i] / scale[i];
            x.prices[i] = ARTIFICIAL;
        }
        x
    }

    fn worth(
        &self,
        demand: &Demand,
        scale: &[f64; ROWS],
        capacity: Amounts,
        tables: &Tables,
    ) -> f64 {
        let mut sum = 0.0;
        for (i, &r) in demand.resources.iter().enumerate() {
            sum += self.prices[i] * capacity[usize::from(r)] / scale[i];
        }
        for (i, &s) in demand.slots.iter().enumerate() {
            let at = demand.resources.len() + i;
            sum += self.prices[at] * f64::from(tables.slots[s as usize]) / scale[at];
        }
        sum
    }

    /// Brings surplus columns in while some price is negative.
    fn drop_negative(&mut self) {
        for _ in 0..4 * self.rows + 10 {
            let lowest = (0..self.rows).min_by(|&a, &b| self.prices[a].total_cmp(&self.prices[b]));
            let Some(row) = lowest.filter(|&row| self.prices[row] < -1e-9) else { return };
            let mut column = [0.0; ROWS];
            column[row] = -1.0;
            if !self.enter(&column, 0.0, NONE) {
                return;
            }
        }
    }

    /// Brings a column into the basis; false when nothing can leave.
    fn enter(&mut self, column: &[f64; ROWS], cost: f64, id: u32) -> bool {
        let n = self.rows;
        let mut reduced = cost;
        for i in 0..n {
            reduced -= self.prices[i] * column[i];
        }
        let mut direction = [0.0; ROWS];
        for i in 0..n {
            direction[i] = (0..n).map(|k| self.inverse[i * ROWS + k] * column[k]).sum();
        }
        let (mut leaving, mut ratio) = (None::<usize>, f64::INFINITY);
        for i in (0..n).filter(|&i| direction[i] > 1e-9) {
            let x = self.amounts[i].max(0.0) / direction[i];
            let is_better = match leaving {
                None => true,
                Some(at) => {
                    x < ratio - 1e-12 || (x < ratio + 1e-12 && direction[i] > direction[at])
                }
            };
            if is_better {
                (leaving, ratio) = (Some(i), x);
            }
        }
        let Some(out) = leaving else { return false };
        for k in 0..n {
            self.inverse[out * ROWS + k] /= direction[out];
        }
        for i in (0..n).filter(|&i| i != out) {
            let factor = direction[i];
            for k in 0..n {
                self.inverse[i * ROWS + k] -= factor * self.inverse[out * ROWS + k];
            }
            self.amounts[i] -= factor * ratio;
        }
        self.amounts[out] = ratio;
        self.costs[out] = cost;
        self.ids[out] = id;
        for k in 0..n {
            self.prices[k] += reduced * self.inverse[out * ROWS + k];
        }
        true
    }
}
