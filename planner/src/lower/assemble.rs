//! The order in which the tables are filled: collect in names, number the names, write rows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use dunnage_api::labels::{CAPACITY_TYPE, HOSTNAME, INITIALIZED, REGISTERED};
use dunnage_engine_core::problem::{Daemon, Domain, Group, NONE, PodClass, Run, Span, Template};

use super::cluster::{StateNode, state_nodes};
use super::counting::{Counted, Counter};
use super::daemons::{DaemonText, daemons};
use super::dialect::Dialect;
use super::dictionary::{Dictionary, Mentions};
use super::groups::{Groups, Index};
use super::nodes::{Load, NodeWriter, loads};
use super::overlays::{self, OverlayRules, PoolTypes};
use super::pods::{Queue, queue};
use super::quotas::{self, QuotaRule};
use super::rules::{GroupText, RuleReader};
use super::templates::{self, TemplateText, Usage};
use super::types::{TypeLists, TypeRow, without_zone_zero};
use super::volumes::{ClaimName, Storage};
use super::writer::{Classes, Writer};
use super::{GroupName, Lowered, TemplateName, buffers, narrow, selling, static_pools};
use crate::error::{PlanError, Warning};
use crate::options::{Options, Strategy};
use crate::settings::{MinValuesPolicy, ShareMillionths};
use crate::snapshot::Snapshot;

/// Everything in names, ready to be numbered.
struct Named<'a> {
    snapshot: &'a Snapshot,
    dialect: &'a Dialect,
    storage: &'a Storage<'a>,
    nodes: &'a [StateNode<'a>],
    loads: Vec<Load>,
    queue: Queue<'a>,
    groups: Groups,
    index: Index,
    counted: Vec<Counted>,
    templates: Vec<TemplateText>,
    types: Vec<Vec<TypeRow>>,
    daemons: Vec<DaemonText>,
    reserves: bool,
    quotas: Vec<QuotaRule>,
    is_mended: bool,
}

/// See [`super::lower`].
pub fn lower(
    snapshot: &Snapshot,
    types: &TypeLists,
    options: &Options,
) -> Result<Lowered, Vec<PlanError>> {
    let is_mended = options.strategy != Strategy::Karpenter;
    let dialect = Dialect::of(snapshot);
    let reader = RuleReader::of(snapshot, &dialect, is_mended);
    let storage = Storage::of(snapshot, &dialect);
    let mut warnings = Vec::new();
    let nodes = state_nodes(snapshot)?;
    let buffers = buffers::buffer_pods(snapshot, is_mended, &mut warnings);
    let queue = queue(snapshot, &nodes, &buffers, &reader, &storage)?;
    let mut templates = templates::templates(snapshot, &dialect, &mut warnings)?;
    if is_mended {
        templates::drop_contradictions(&mut templates, &mut warnings);
    }
    let mut rows = type_rows(snapshot, types, &dialect, is_mended, &queue, &mut warnings)?;
    let quotas = if is_mended {
        narrow::narrow(&mut rows, &snapshot.settings, &mut warnings);
        let own: Vec<&TypeRow> = rows.values().flatten().collect();
        quotas::rules(&snapshot.settings, &nodes, &own)
    } else {
        Vec::new()
    };
    let static_launches = static_pools::static_launches(snapshot, &nodes, &rows, &dialect);
    let templates: Vec<_> = templates.into_iter().filter(|t| rows.contains_key(&t.name)).collect();
    let counter = Counter {
        snapshot,
        nodes: &nodes,
        moved: &queue.moved,
        dialect: &dialect,
        reader: &reader,
        is_mended,
    };
    let (groups, index, counted) = count(&queue, &counter, is_mended);
    let named = Named {
        snapshot,
        dialect: &dialect,
        storage: &storage,
        nodes: &nodes,
        loads: loads(snapshot, &nodes, &storage, is_mended)?,
        types: templates.iter().map(|t| rows[&t.name].clone()).collect(),
        daemons: daemons(snapshot, &dialect, is_mended)?,
        reserves: snapshot.settings.feature_gates.reserved_capacity,
        quotas,
        is_mended,
        queue,
        groups,
        index,
        counted,
        templates,
    };
    let mut lowered = named.write();
    lowered.tables.rules = options.rules();
    lowered.tables.rules.lowers_min_values =
        snapshot.settings.min_values_policy == MinValuesPolicy::BestEffort;
    lowered.static_launches = static_launches;
    warnings.sort();
    warnings.dedup();
    lowered.warnings = warnings;
    Ok(lowered)
}

/// Types of each pool that has any, overlays applied. Pools that open no nodes take part in
/// the conflicts of overlays all the same.
fn type_rows(
    snapshot: &Snapshot,
    types: &TypeLists,
    dialect: &Dialect,
    is_mended: bool,
    queue: &Queue,
    warnings: &mut Vec<Warning>,
) -> Result<BTreeMap<String, Vec<TypeRow>>, Vec<PlanError>> {
    let mut errors = Vec::new();
    let mut lists = Vec::new();
    for list in &types.lists {
        let mut rows = Vec::new();
        for own in list {
            let own = if is_mended && dialect.has_no_zone_zero() {
                Cow::Owned(without_zone_zero(own))
            } else {
                Cow::Borrowed(own)
            };
            match TypeRow::of(&own, dialect, warnings) {
                Ok(own) => rows.extend(own),
                Err(error) => errors.push(*error),
            }
        }
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        lists.push(rows);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut pools: Vec<&_> = snapshot
        .node_pools
        .iter()
        .filter(|pool| pool.metadata.name.as_ref().is_some_and(|n| types.of_pool.contains_key(n)))
        .collect();
    pools.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    let name = |pool: &dunnage_api::NodePool| pool.metadata.name.clone().unwrap_or_default();
    let list_of = |name: &str| types.of_pool.get(name).and_then(|at| lists.get(*at));
    if !overlays::is_on(snapshot, warnings) || snapshot.node_overlays.is_empty() {
        let rows = |name: &str| -> Vec<TypeRow> {
            list_of(name).into_iter().flatten().map(|(row, _)| row.clone()).collect()
        };
        return Ok(pools.iter().map(|pool| (name(pool), rows(&name(pool)))).collect());
    }
    let asked = queue.asked();
    let rules = OverlayRules { dialect, is_mended, asked: &asked };
    let own = pools.iter().map(|pool| {
        let (labels, template) = templates::needs_of(pool, dialect);
        let types = list_of(&name(pool)).cloned().unwrap_or_default();
        PoolTypes { labels, template, types }
    });
    let names: Vec<String> = pools.iter().map(|pool| name(pool)).collect();
    let rows = overlays::apply(snapshot, own.collect(), &rules, warnings);
    Ok(names.into_iter().zip(rows).collect())
}

/// The topology groups of the queue and of bound pods, and what real nodes say about them.
fn count(queue: &Queue, counter: &Counter, is_mended: bool) -> (Groups, Index, Vec<Counted>) {
    let owners = counter.owners();
    let mut seen = vec![false; queue.shapes.len()];
    let mut wanted: Vec<&GroupText> = Vec::new();
    for pod in &queue.pods {
        if !std::mem::replace(&mut seen[pod.shape as usize], true) {
            let rules = &queue.shapes[pod.shape as usize].rules;
            wanted.extend(
                rules
                    .iter()
                    .flat_map(|r| std::iter::once(&r.group).chain(&r.inverse).chain(&r.variants)),
            );
        }
    }
    wanted.extend(owners.iter().map(|(group, _)| group));
    let all = Groups::of(wanted, is_mended);
    let index = Index::of(&all.list);
    let groups = all.without_idle(&index, &queue.labels.list);
    let index = Index::of(&groups.list);
    let counted = counter.count(&groups, &index, &owners);
    (groups, index, counted)
}

impl Named<'_> {
    fn write(self) -> Lowered {
        let mut writer = Writer::default();
        let mentions = self.mentions();
        let (dictionary, keys, values) =
            Dictionary::build(mentions, self.dialect, &mut writer.tables);
        writer.dictionary = dictionary;
        writer.names.keys = keys;
        writer.names.values = values;
        writer.resources(self.resources());
        self.write_templates(&mut writer);
        self.write_daemons(&mut writer);
        let shared = self.shared_claims();
        NodeWriter {
            nodes: self.nodes,
            loads: &self.loads,
            counted: &self.counted,
            storage: self.storage,
            shared: &shared,
            dialect: self.dialect,
        }
        .write(&mut writer);
        self.write_groups(&mut writer);
        self.write_pods(&shared, &mut writer);
        Lowered {
            tables: writer.tables,
            names: writer.names,
            rejected: self.queue.rejected,
            ..Lowered::default()
        }
    }

    /// Every key that matters, and every value that is named for one.
    fn mentions(&self) -> Mentions {
        let mut mentions = Mentions::default();
        for shape in &self.queue.shapes {
            let preferred = shape.preferred.iter().map(|(_, needs)| needs);
            for needs in shape.required.iter().chain(preferred).chain([&shape.selector]) {
                mentions.needs(needs);
            }
        }
        for needs in self.queue.volumes.iter().flat_map(|volumes| &volumes.alternatives) {
            mentions.needs(needs);
        }
        for daemon in &self.daemons {
            daemon.required.iter().chain([&daemon.selector]).for_each(|n| mentions.needs(n));
        }
        for group in &self.groups.list {
            if !group.is_hostname() {
                mentions.key(&group.key);
            }
            group.filter.iter().for_each(|needs| mentions.needs(needs));
        }
        for template in &self.templates {
            let mut needs = template.needs.clone();
            for key in [REGISTERED, INITIALIZED] {
                if !mentions.has(key) {
                    needs.0.remove(key);
                }
            }
            mentions.needs(&needs);
        }
        let offerings = || self.types.iter().flatten().flat_map(|row| &row.offerings);
        if self.reserves && offerings().any(|offering| offering.reservation.is_some()) {
            mentions.key(CAPACITY_TYPE);
            mentions.key(self.dialect.reservation_key());
        }
        self.values(&mut mentions);
        mentions
    }

    /// Values that types, offerings and nodes name for the keys that matter.
    fn values(&self, mentions: &mut Mentions) {
        for template in &self.templates {
            mentions.values(&template.needs);
        }
        for row in self.types.iter().flatten() {
            mentions.values(&row.needs);
            for offering in &row.offerings {
                offering.labels.iter().for_each(|(key, value)| mentions.value(key, value));
            }
        }
        for node in self.nodes {
            for (key, value) in node.labels {
                let key = self.dialect.normalized(key);
                if key != HOSTNAME {
                    mentions.value(key, value);
                }
            }
        }
    }

    fn resources(&self) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        let amounts = (self.queue.shapes.iter().map(|shape| &shape.amounts))
            .chain(self.daemons.iter().map(|daemon| &daemon.amounts))
            .chain(self.templates.iter().map(|template| &template.limits));
        for own in amounts {
            for name in own.keys() {
                if !named.contains(name) {
                    named.insert(name.clone());
                }
            }
        }
        named
    }

    fn write_templates(&self, writer: &mut Writer) {
        let spans = selling::write(
            &self.types,
            &selling::Terms {
                reserves: self.reserves,
                quotas: &self.quotas,
                spot_penalty: if self.is_mended {
                    self.snapshot.settings.spot_penalty
                } else {
                    ShareMillionths(0)
                },
            },
            writer,
        );
        let usage = templates::usage(self.nodes);
        for (template, types) in self.templates.iter().zip(spans) {
            let pool = &self.snapshot.node_pools[template.index];
            let spec = &pool.spec.template.spec;
            let none = Usage::default();
            let usage = usage.get(&template.name).unwrap_or(&none);
            let columns = template.limits.keys().filter_map(|name| writer.column(name));
            // LIMIT: more than 64 resources are refused by the engine, by name.
            let limited =
                columns.fold(0_u64, |bits, c| bits | 1_u64.checked_shl(c as u32).unwrap_or(0));
            let row = Template {
                set: writer.set(&template.needs),
                taints: writer.taints(&spec.taints.iter().collect::<Vec<_>>()),
                types,
                weight: u32::try_from(pool.weight()).unwrap_or(0),
                limit: if template.limits.is_empty() {
                    NONE
                } else {
                    writer.amounts(&template.limits, 0)
                },
                limited,
                usage: if usage.nodes == 0 { NONE } else { writer.amounts(&usage.capacity, 0) },
                node_limit: template.node_limit,
                node_usage: usage.nodes,
            };
            writer.tables.templates.push(row);
            writer.names.templates.push(TemplateName {
                node_pool: template.name.clone(),
                node_class: spec.node_class_ref.name.clone(),
                index: template.index,
            });
        }
    }

    fn write_daemons(&self, writer: &mut Writer) {
        for daemon in &self.daemons {
            let row = Daemon {
                requests: writer.amounts(&daemon.amounts, 0),
                selector: writer.set(&daemon.selector),
                required: writer.terms(daemon.required.iter().map(|needs| (0, needs))),
                tolerations: writer.tolerations(&daemon.tolerations),
                ports: writer.ports(&daemon.ports),
            };
            writer.tables.daemons.push(row);
            writer.names.daemons.push(daemon.name.clone());
        }
    }

    /// Claims that more than one pod uses, with their numbers.
    fn shared_claims(&self) -> BTreeMap<ClaimName, u32> {
        let mut users: BTreeMap<&ClaimName, u32> = BTreeMap::new();
        for pod in self.queue.pods.iter().filter(|pod| pod.volumes != 0) {
            for (_, claim) in &self.queue.volumes[pod.volumes as usize].attached {
                *users.entry(claim).or_default() += 1;
            }
        }
        for (_, claim) in self.loads.iter().flat_map(|load| &load.attached) {
            *users.entry(claim).or_default() += 1;
        }
        let shared = users.into_iter().filter(|(_, users)| *users > 1);
        shared.enumerate().map(|(number, (claim, _))| (claim.clone(), number as u32)).collect()
    }

    fn write_groups(&self, writer: &mut Writer) {
        for (group, counted) in self.groups.list.iter().zip(&self.counted) {
            let key = writer.dictionary.key(&group.key).filter(|_| !group.is_hostname());
            let start = writer.tables.domains.len() as u32;
            for (value, count) in &counted.domains {
                if let Some(label) = writer.dictionary.label(&group.key, value) {
                    writer.tables.domains.push(Domain { value: label.value, count: *count });
                }
            }
            let len = writer.tables.domains.len() as u32 - start;
            let row = Group {
                kind: group.kind.into(),
                key: key.unwrap_or(NONE),
                is_hostname: group.is_hostname(),
                max_skew: group.max_skew,
                min_domains: group.min_domains,
                filter: writer.terms(group.filter.iter().map(|needs| (0, needs))),
                honors_taints: group.honors_taints,
                honors_pool_taints: group.honors_pool_taints,
                tolerations: writer.tolerations(&group.tolerations),
                domains: if len == 0 { Span::default() } else { Span { start, len } },
                total: counted.total,
            };
            writer.tables.groups.push(row);
            writer.names.groups.push(GroupName {
                key: group.key.clone(),
                selector: group.selector.to_string(),
                namespaces: group.namespaces.iter().flatten().cloned().collect(),
            });
        }
    }

    fn write_pods(&self, shared: &BTreeMap<ClaimName, u32>, writer: &mut Writer) {
        let drivers = self.storage.drivers();
        // Written in the order of the queue, which the order of the input does not change.
        let mut matches: Vec<Option<Span>> = vec![None; self.queue.labels.list.len()];
        let mut shapes: Vec<Option<PodClass>> = vec![None; self.queue.shapes.len()];
        let mut volumes: Vec<Option<(Span, Span)>> = vec![None; self.queue.volumes.len()];
        let mut classes = Classes::default();
        let mut known: HashMap<(u32, Span, u32), u32> = HashMap::new();
        for pod in &self.queue.pods {
            let matched = *matches[pod.labels as usize].get_or_insert_with(|| {
                let (namespace, labels) = self.queue.labels.list[pod.labels as usize];
                writer.matches(self.index.matches(&self.groups.list, namespace, labels, false))
            });
            let class = *known.entry((pod.shape, matched, pod.volumes)).or_insert_with(|| {
                let shape = pod.shape as usize;
                let base = *shapes[shape]
                    .get_or_insert_with(|| writer.shape(&self.queue.shapes[shape], &self.groups));
                let own = pod.volumes as usize;
                let (places, uses) = *volumes[own].get_or_insert_with(|| {
                    writer.volumes(&self.queue.volumes[own], &drivers, shared)
                });
                let class = PodClass {
                    matches: matched,
                    volume_alternatives: places,
                    volume_uses: uses,
                    ..base
                };
                writer.class(class, &mut classes)
            });
            writer.tables.classes[class as usize].count += 1;
            writer.names.pods[class as usize].push(pod.name.clone());
            match writer.tables.runs.last_mut() {
                Some(run) if run.class == class => run.count += 1,
                _ => writer.tables.runs.push(Run { class, count: 1 }),
            }
        }
    }
}
