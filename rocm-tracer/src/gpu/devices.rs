//! What a device's plane tells of the device: the capabilities by which XProf judges its kernels.

use super::records::Device;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::x_stat::Value;
use xplane_schema::schema::{DEVICE_VENDOR_AMD, StatType};

/// The memory's transfers a clock: HBM and GDDR both have two.
const TRANSFERS_PER_CLOCK: u64 = 2;

/// Adds the device's capabilities to its plane; those that the SDK does not know are left out.
pub(crate) fn add_capabilities(device: &Device, plane: &mut XPlaneBuilder<'_>) {
    let mut add = |stat: StatType, value: Value| {
        let id = plane.get_or_create_stat_metadata(stat.as_str());
        plane.set_stat_value(id, value);
    };
    add(
        StatType::DevVendor,
        Value::StrValue(DEVICE_VENDOR_AMD.to_owned()),
    );
    let mut add_number = |stat, value: u64| {
        if value != 0 {
            add(stat, Value::Uint64Value(value));
        }
    };
    add_number(
        StatType::DevCapClockRateKhz,
        u64::from(device.clock_mhz) * 1000,
    );
    add_number(StatType::DevCapCoreCount, u64::from(device.compute_units));
    add_number(StatType::DevCapMemoryBandwidth, bandwidth(device));
    add_number(
        StatType::DevCapMemorySize,
        device.memory.iter().map(|bank| bank.bytes).sum(),
    );
    let version = u64::from(device.gfx_target_version);
    add_number(StatType::DevCapComputeCapMajor, version / 10_000 % 100);
    add_number(StatType::DevCapComputeCapMinor, version / 100 % 100);
    if !device.name.is_empty() {
        add(
            StatType::GpuDeviceName,
            Value::StrValue(device.name.clone()),
        );
    }
}

/// Bytes a second of the first bank whose clock is known.
fn bandwidth(device: &Device) -> u64 {
    let bank = device.memory.iter().find(|bank| bank.clock_mhz != 0);
    bank.map_or(0, |bank| {
        let clock_hz = u64::from(bank.clock_mhz) * 1_000_000;
        clock_hz * TRANSFERS_PER_CLOCK * u64::from(bank.width_bits) / 8
    })
}
